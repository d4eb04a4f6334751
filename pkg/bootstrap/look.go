package bootstrap

import (
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// look finds out how far an earlier run came. It changes nothing; the phases after it build on what it found.
func (u *Up) look() pipeline.Phase {
	return pipeline.Phase{
		Name: "look", Title: "look for an earlier run", Needs: []string{"preflight"}, Timeout: 2 * time.Minute,
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			exists, err := u.bootstrapExists(ctx)
			if err != nil {
				return err
			}
			if exists {
				if u.found.bootstrap, err = u.connectBootstrap(ctx); err != nil {
					u.found.bootstrap = nil
					report.Warn("the bootstrap cluster %s exists but does not answer: %v", u.BootstrapName(), err)
				}
			}
			u.found.management = u.connectSaved(ctx)
			return u.judge(ctx, exists, report)
		},
	}
}

// bootstrapExists says whether our bootstrap cluster is there; a kind cluster of its name that is not ours is refused.
func (u *Up) bootstrapExists(ctx context.Context) (bool, error) {
	if u.BootstrapKubeconfig != "" {
		return true, nil
	}
	exists, err := u.Kind.Exists(ctx, u.BootstrapName())
	if err != nil || !exists {
		return false, err
	}
	node, err := u.Docker.Inspect(ctx, kind.NodeName(u.BootstrapName()))
	if err != nil {
		return false, fmt.Errorf("looking at the node of the kind cluster %s: %w", u.BootstrapName(), err)
	}
	if !node.HasMount(kind.MarkerFolder + u.Environment.ClusterName()) {
		return false, fault.New(fault.ClusterForeign, fmt.Sprintf("a kind cluster %s exists that cluster-init did not make", u.BootstrapName()),
			"Delete it (kind delete cluster --name "+u.BootstrapName()+"), or give the management cluster another name with --set cluster.name=NAME.")
	}
	return true, nil
}

// judge decides whether the pivot is behind us.
func (u *Up) judge(ctx context.Context, bootstrapExists bool, report pipeline.Reporter) error {
	switch {
	case u.found.bootstrap != nil && u.found.management != nil:
		state, err := pivot.ReadState(ctx, u.side(u.found.bootstrap), u.side(u.found.management), u.scope())
		if err != nil {
			return err
		}
		u.found.pivoted = state.Phase == pivot.Done
		report.Progress("bootstrap and management cluster found, pivot: %s", state.Phase)
	case u.found.management != nil && !bootstrapExists:
		u.found.pivoted = true
		report.Progress("the management cluster answers, the bootstrap cluster is gone")
	case u.found.bootstrap != nil:
		report.Progress("the bootstrap cluster answers, no management cluster yet")
	case !bootstrapExists:
		return u.refuseOrphans(ctx, report)
	}
	return nil
}

// refuseOrphans fails when machines of this environment are left but no cluster that answers: making a second set
// beside them would end in two clusters of one name.
func (u *Up) refuseOrphans(ctx context.Context, report pipeline.Reporter) error {
	machines, err := u.Docker.Containers(ctx, docker.Filter{Labels: []string{"io.x-k8s.kind.cluster=" + u.Environment.ClusterName()}})
	if err != nil {
		return err
	}
	if len(machines) == 0 {
		report.Progress("nothing found: a fresh start")
		return nil
	}
	return fault.New(fault.ClusterUnreachable,
		fmt.Sprintf("machines of %s exist (%v), but neither its bootstrap nor its management cluster answers", u.Environment.ClusterName(), machines),
		"If that cluster is not needed: cluster-init cleanup "+u.Environment.Name()+" --yes. Otherwise restore its kubeconfig at "+u.KubeconfigPath+".")
}
