package up

import (
	"context"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// bootstrapCluster creates the temporary cluster that builds the management cluster, or reuses the one that answers.
type bootstrapCluster struct {
	world  world
	wanted bootstrap.Wanted
}

func (b bootstrapCluster) does() (string, error) {
	if b.wanted.Existing != "" {
		return "use the cluster of " + b.wanted.Existing, nil
	}
	return "make the kind cluster " + owned.BootstrapCluster(b.wanted.Environment.ClusterName()) + " of " +
		b.wanted.BootstrapImage(), nil
}

func (b bootstrapCluster) check(ctx context.Context) (pipeline.Status, error) {
	return pendingUntilPivot(ctx, b.world, "not needed any more, the management cluster holds its own definition")
}

func (b bootstrapCluster) run(ctx context.Context, report pipeline.Reporter) error {
	cluster := bootstrap.Cluster{Wanted: b.wanted, ListenAddress: b.world.APIServerAddress(),
		ReachedAt: b.world.ReachedAt()}
	if _, err := b.world.Connected(clusters.BootstrapName); err == nil {
		report.Progress("reusing the one that answers")
	} else if err := b.create(ctx, cluster, report); err != nil {
		return err
	}
	return cluster.WriteMirrors(ctx)
}

func (b bootstrapCluster) create(ctx context.Context, cluster bootstrap.Cluster, report pipeline.Reporter) error {
	o, err := b.world.confirm(ctx, fresh)
	if err != nil {
		return err
	}
	if err := b.world.SetAside(); err != nil {
		return err
	}
	if err := cluster.Create(ctx, o.Bootstrap.State == clusters.BootstrapUnfinished, report); err != nil {
		return err
	}
	return b.world.AdoptBootstrap(ctx, report)
}

// bootstrapRemoval deletes the bootstrap cluster. The management cluster no longer depends on it.
type bootstrapRemoval struct {
	world   world
	options Options
	scope   clusters.Scope
	kind    *kind.Provider
}

func (b bootstrapRemoval) check(ctx context.Context) (pipeline.Status, error) {
	if b.options.keepsBootstrap() {
		return nothingToDo("kept, as asked")
	}
	exists, err := b.world.BootstrapExists(ctx)
	if err != nil || exists {
		return pipeline.Status{}, err
	}
	return nothingToDo("it is gone")
}

// run observes the clusters again first: whatever the bootstrap cluster still has is deleted with it.
func (b bootstrapRemoval) run(ctx context.Context, _ pipeline.Reporter) error {
	o, err := b.world.confirm(ctx, pivoted)
	if err != nil {
		return err
	}
	if c := o.Bootstrap.Cluster; c != nil {
		all, err := capi.Clusters(ctx, c, "")
		if err != nil {
			return fmt.Errorf("list the Clusters that the bootstrap cluster still holds: %w", err)
		}
		if remaining := othersThan(b.scope, all); len(remaining) > 0 {
			return fault.New(fault.PivotRefused,
				fmt.Sprintf("the bootstrap cluster is kept, as it holds more than %s: %s",
					b.options.Environment.ClusterName(), strings.Join(remaining, ", ")),
				"Move them to where they are to be managed (clusterctl move), or delete them, and run the same "+
					"command again; or add --keep-bootstrap.")
		}
	}
	b.world.EndLease(clusters.BootstrapName)
	if err := b.kind.Delete(ctx, b.options.BootstrapName()); err != nil {
		return err
	}
	return b.world.ForgetBootstrap()
}

// keepsBootstrap reports whether the bootstrap cluster stays: the user wants that, or provided the cluster.
func (o Options) keepsBootstrap() bool { return o.KeepBootstrap || o.BootstrapKubeconfig != "" }

// othersThan names all Clusters, except the management cluster's own if it is paused: an interrupted move that a person
// ended by hand leaves that behind.
func othersThan(scope clusters.Scope, all []capi.Cluster) []string {
	var names []string
	for _, c := range all {
		if c.Namespace != scope.Namespace || c.Name != scope.Cluster || !c.Paused {
			names = append(names, c.String())
		}
	}
	return names
}
