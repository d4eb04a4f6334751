package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	engine "github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

var _ provider.Inspector = Provider{}

const (
	saidLines = 60
	saidBytes = 32 << 10
)

// Inspect returns the end of the boot output of the machine's container, and of the journal of its node.
func (p Provider) Inspect(ctx context.Context, machine string) ([]provider.Said, error) {
	names, err := p.Engine.Containers(ctx, engine.Filter{Labels: []string{kind.RoleLabel}})
	if err != nil {
		return nil, err
	}
	var said []provider.Said
	var unread error
	for _, name := range names {
		if name != machine && !strings.HasSuffix(name, "-"+machine) {
			continue
		}
		container, err := p.Engine.Inspect(ctx, name)
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("inspect container %s: %w", name, err))
			continue
		}
		// Cluster API's provider prefixes the cluster's name to a machine name that does not begin with it.
		if name != machine && name != container.Labels[kind.ClusterLabel]+"-"+machine {
			continue
		}
		console, err := p.Engine.Logs(ctx, name, saidLines, saidBytes)
		if err != nil {
			unread = errors.Join(unread, err)
		} else {
			said = append(said, provider.Said{From: "console", Text: console})
		}
		if !container.Running || container.Status == "paused" { // no command can run in it
			continue
		}
		journal, err := p.Engine.Output(ctx, name, []string{"journalctl", "--no-pager", "--output=cat",
			fmt.Sprintf("--lines=%d", saidLines), "--unit=kubelet", "--unit=containerd"}, saidBytes)
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("read the journal of machine %s: %w", name, err))
			continue
		}
		said = append(said, provider.Said{From: "journal", Text: journal})
	}
	return said, unread
}
