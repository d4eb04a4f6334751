package up

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
)

// bootstrapCluster makes the temporary cluster that builds the management cluster, or takes the one that answers.
type bootstrapCluster struct {
	world  bootstrapMaker
	asked  Options
	engine *docker.Client
	kind   *kind.Provider
}

// bootstrapMaker is what making the bootstrap cluster needs of the world.
type bootstrapMaker interface {
	clusters
	confirm(context.Context, decision) (world.Observation, error)
	APIServerAddress() string
	ReachedAt() string
	SetAside() error
	// AdoptBootstrap connects to the bootstrap cluster that was made, and takes its lease.
	AdoptBootstrap(context.Context, pipeline.Reporter) error
}

func (b bootstrapCluster) check(ctx context.Context) (pipeline.Status, error) {
	return beforePivot(ctx, b.world, "not needed any more, the management cluster holds its own definition")
}

func (b bootstrapCluster) run(ctx context.Context, report pipeline.Reporter) error {
	if _, err := b.world.Connected(world.BootstrapName); err == nil {
		report.Progress("reusing the one that answers")
	} else if err := b.create(ctx, report); err != nil {
		return err
	}
	return b.writeMirrors(ctx)
}

func (b bootstrapCluster) create(ctx context.Context, report pipeline.Reporter) error {
	name := b.asked.BootstrapName()
	o, err := b.world.confirm(ctx, fresh)
	if err != nil {
		return err
	}
	if o.Bootstrap.State == world.BootstrapUnfinished {
		report.Progress("deleting the unfinished kind cluster %s", name)
		if err := b.kind.Delete(ctx, name); err != nil {
			return err
		}
	}
	if err := b.world.SetAside(); err != nil {
		return err
	}
	id, err := lease.MakeID(b.asked.StateFolder)
	if err != nil {
		return err
	}
	if err := ensureNetwork(ctx, b.engine, b.asked.StateFolder); err != nil {
		return err
	}
	report.Progress("creating the kind cluster %s", name)
	if err := b.kind.Create(ctx, b.config(id), 5*time.Minute, b.made(id)); err != nil {
		return err
	}
	if err := b.engine.Exec(ctx, kind.NodeName(name), []string{"touch", owned.FinishedMarker}, docker.ExecOptions{}); err != nil {
		return fmt.Errorf("mark the bootstrap cluster as finished: %w", err)
	}
	return b.world.AdoptBootstrap(ctx, report)
}

// made says whether the node was made by a run with this state folder's id: one at a time has the folder's lock.
func (b bootstrapCluster) made(id string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		node, err := b.engine.Inspect(ctx, kind.NodeName(b.asked.BootstrapName()))
		if errors.Is(err, docker.ErrNotFound) {
			return false, nil
		}
		return err == nil && node.HasMount(owned.MakerMarker(id)), err
	}
}

func (b bootstrapCluster) config(id string) kind.Config {
	environment := b.asked.Environment
	spec, engine := environment.Spec(), b.world.ReachedAt()
	return kind.Config{
		Name: b.asked.BootstrapName(), Markers: []string{owned.Marker(environment.ClusterName()), owned.MakerMarker(id)}, NodeImage: b.nodeImage(),
		APIServerAddress: b.world.APIServerAddress(), APIServerPort: b.asked.APIServerPort, DockerSocket: spec.Cluster.DockerSocket(),
		Proxies: kind.Proxies{HTTP: spec.Proxies.HTTP, HTTPS: spec.Proxies.HTTPS, No: strings.TrimSuffix(environment.NoProxy()+","+engine, ",")},
	}
}

func (b bootstrapCluster) nodeImage() string {
	if b.asked.NodeImage == "" && b.asked.Bundle != nil {
		return b.asked.Bundle.Index.NodeImage
	}
	return b.asked.NodeImage
}

// writeMirrors has the bootstrap cluster's node pull through the mirrors; containerd reads the files at each pull.
func (b bootstrapCluster) writeMirrors(ctx context.Context) error {
	if b.asked.BootstrapKubeconfig != "" {
		return nil // not our node to write into
	}
	node := kind.NodeName(b.asked.BootstrapName())
	for _, m := range b.asked.Mirrors {
		folder := "/etc/containerd/certs.d/" + m.Host
		err := b.engine.Exec(ctx, node, []string{"sh", "-c", `mkdir -p "$0" && cat > "$0/hosts.toml"`, folder},
			docker.ExecOptions{Stdin: bytes.NewReader([]byte(m.HostsTOML()))})
		if err != nil {
			return fmt.Errorf("write the mirror of %s into node %s: %w", m.Host, node, err)
		}
	}
	return nil
}
