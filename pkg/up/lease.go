package up

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// settleAlone settles what is there while this run holds the leases of the clusters that it found: what another run did until it ended is
// seen too.
func (u *Run) settleAlone(ctx context.Context, report pipeline.Reporter) (observation, verdict, error) {
	for {
		o, v, err := u.settle(ctx, report)
		if err != nil {
			return o, v, err
		}
		taken := false
		for _, c := range []*kube.Cluster{o.bootstrap.cluster, o.management.cluster} {
			if c == nil {
				continue
			}
			fresh, err := u.takeLease(ctx, c, report)
			if err != nil {
				return o, v, err
			}
			taken = taken || fresh
		}
		if !taken {
			return o, v, nil
		}
	}
}

// takeLease takes the lease of this management cluster in c; false: this run has it already.
func (u *Run) takeLease(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) (bool, error) {
	holder, err := u.holder()
	if err != nil {
		return false, err
	}
	return u.Leases.Take(ctx, lease.Request{
		Config: c.Config, Where: where(c.Name), Name: lease.Name(u.Environment.ClusterNamespace(), u.Environment.ClusterName()), Holder: holder,
		Timing: lease.DefaultTiming(), Waiting: func(what string) { report.Waiting(what, nil) },
	})
}

func where(cluster string) string { return "the " + cluster + " cluster" }

// holder says who this run is: the same for all runs with one state folder, of which there is one at a time.
func (u *Run) holder() (string, error) {
	id, err := u.id()
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find out this machine's name: %w", err)
	}
	name := "somebody" // a container's user may have no entry
	if current, err := user.Current(); err == nil {
		name = current.Username
	}
	return fmt.Sprintf("%s@%s (%s)", name, host, id), nil
}

// id is the state folder's own. It is made where there is none yet.
func (u *Run) id() (string, error) {
	id, err := u.idSoFar()
	if err != nil || id != "" {
		return id, err
	}
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("make an id for the state folder: %w", err)
	}
	id = hex.EncodeToString(random)
	return id, writeFile(u.idPath(), []byte(id+"\n"))
}

// idSoFar is empty where no run has made one.
func (u *Run) idSoFar() (string, error) {
	content, err := os.ReadFile(u.idPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fault.Wrap(fmt.Errorf("read the state folder's id: %w", err), fault.Usage, "Set XDG_STATE_HOME to a folder of your own.")
	}
	return strings.TrimSpace(string(content)), nil
}

func (u *Run) idPath() string { return filepath.Join(u.StateFolder, "id") }
