package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Cluster is the bootstrap cluster, made with kind.
type Cluster struct {
	Wanted
	// ListenAddress is where its API server listens on the engine's machine. Empty means kind's default.
	ListenAddress string
	// ReachedAt is the host of the engine. Empty means this machine.
	ReachedAt string
}

// Create creates the cluster, and marks it as finished. If unfinished, it first deletes one that kind did not finish.
func (c Cluster) Create(ctx context.Context, unfinished bool, report pipeline.Reporter) error {
	if unfinished {
		report.Progress("deleting the unfinished kind cluster %s", c.name())
		if err := c.Kind.Delete(ctx, c.name()); err != nil {
			return err
		}
	}
	id, err := lease.MakeID(c.StateFolder)
	if err != nil {
		return err
	}
	if err := ensureNetwork(ctx, c.Engine, c.StateFolder); err != nil {
		return err
	}
	if err := c.pullNodeImage(ctx, report); err != nil {
		return err
	}
	report.Progress("creating the kind cluster %s", c.name())
	config, err := c.config(id)
	if err != nil {
		return err
	}
	if err := c.Kind.Create(ctx, config, 5*time.Minute, c.made(id)); err != nil {
		return err
	}
	if err := c.trust(ctx); err != nil {
		return err
	}
	if err := c.Engine.Exec(ctx, kind.NodeName(c.name()), []string{"touch", owned.FinishedMarker},
		docker.ExecOptions{}); err != nil {
		return fmt.Errorf("mark the bootstrap cluster as finished: %w", err)
	}
	return nil
}

// made reports whether a run with this state folder's id made the node. One run at a time has the folder's lock.
func (c Cluster) made(id string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		node, err := c.Engine.Inspect(ctx, kind.NodeName(c.name()))
		if errors.Is(err, docker.ErrNotFound) {
			return false, nil
		}
		return err == nil && node.HasMount(owned.MakerMarker(id)), err
	}
}

func (c Cluster) config(id string) (kind.Config, error) {
	spec := c.Environment.Spec()
	socket, err := c.Environment.BootstrapDockerSocket()
	return kind.Config{
		Name: c.name(), Markers: []string{owned.Marker(c.Environment.ClusterName()), owned.MakerMarker(id)},
		NodeImage:        c.BootstrapImage(),
		APIServerAddress: c.ListenAddress, APIServerPort: c.APIServerPort, DockerSocket: socket,
		Proxies: kind.Proxies{HTTP: spec.Proxies.HTTP, HTTPS: spec.Proxies.HTTPS,
			No: strings.TrimSuffix(c.Environment.NoProxy(environment.Bootstrap)+","+c.ReachedAt, ",")},
	}, err
}

// trust makes the node trust the same certificate authorities as the machines, because it pulls from the same
// registries. containerd reads them when it starts.
func (c Cluster) trust(ctx context.Context) error {
	cas := c.Environment.Spec().Cluster.TrustedCAs
	if cas == "" {
		return nil
	}
	const install = `cat > /usr/local/share/ca-certificates/cluster-init.crt &&
update-ca-certificates && systemctl restart containerd`
	node := kind.NodeName(c.name())
	err := c.Engine.Exec(ctx, node, []string{"sh", "-c", install}, docker.ExecOptions{Stdin: strings.NewReader(cas)})
	if err != nil {
		return fmt.Errorf("write cluster.trusted_cas into node %s: %w", node, err)
	}
	return nil
}

// WriteMirrors configures the bootstrap cluster's node to pull through the mirrors. containerd reads the files at each
// pull.
func (c Cluster) WriteMirrors(ctx context.Context) error {
	if c.Existing != "" {
		return nil // do not write into a node that we did not create
	}
	node := kind.NodeName(c.name())
	for _, m := range c.Mirrors {
		folder := "/etc/containerd/certs.d/" + m.Host
		err := c.Engine.Exec(ctx, node, []string{"sh", "-c", `mkdir -p "$0" && cat > "$0/hosts.toml"`, folder},
			docker.ExecOptions{Stdin: bytes.NewReader([]byte(m.HostsTOML()))})
		if err != nil {
			return fmt.Errorf("write the mirror of %s into node %s: %w", m.Host, node, err)
		}
	}
	return nil
}
