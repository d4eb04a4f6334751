package bootstrap

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/artifact/registry"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
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
			if err := registry.CheckOurs(ctx, u.Docker, u.Environment.ClusterName()); err != nil {
				return err
			}
			if exists {
				if err := u.lookAtBootstrap(ctx, report); err != nil {
					return err
				}
			}
			if u.found.management, err = u.connectSaved(ctx); err != nil {
				return err
			}
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
	if !node.HasMount(owned.Marker(u.Environment.ClusterName())) {
		return false, fault.New(fault.ClusterForeign, fmt.Sprintf("a kind cluster %s exists that cluster-init did not make", u.BootstrapName()),
			"Delete it (kind delete cluster --name "+u.BootstrapName()+"), or give the management cluster another name with --set cluster.name=NAME.")
	}
	return true, nil
}

// lookAtBootstrap connects to the bootstrap cluster that exists, unless it does not answer or was never finished:
// an API server answers long before kind is done with a cluster.
func (u *Up) lookAtBootstrap(ctx context.Context, report pipeline.Reporter) error {
	c, err := u.connectBootstrap(ctx)
	if err != nil && u.BootstrapKubeconfig != "" {
		if fault.CodeOf(err) == fault.Usage {
			return err
		}
		return fault.Wrap(fmt.Errorf("the cluster of --bootstrap-kubeconfig: %w", err), fault.ClusterUnreachable,
			"Check its address and credentials: kubectl --kubeconfig "+u.BootstrapKubeconfig+" get nodes")
	}
	if err != nil {
		report.Warn("the bootstrap cluster %s exists but does not answer: %v", u.BootstrapName(), err)
		return nil
	}
	finished, err := u.bootstrapFinished(ctx)
	if err != nil {
		return err
	}
	if !finished {
		report.Warn("the bootstrap cluster %s was never finished", u.BootstrapName())
		return nil
	}
	u.found.bootstrap = c
	return nil
}

// judge decides whether the pivot is behind us.
func (u *Up) judge(ctx context.Context, bootstrapExists bool, report pipeline.Reporter) error {
	switch {
	case u.found.management != nil && bootstrapExists:
		state, err := pivot.ReadState(ctx, u.side(u.found.bootstrap), u.side(u.found.management), u.scope())
		if err != nil {
			return err
		}
		u.found.pivoted = state.Phase == pivot.Done
		report.Progress("bootstrap and management cluster found, pivot: %s", state.Phase)
		if u.found.bootstrap == nil && !u.found.pivoted {
			return u.refuseOrphans(ctx, report)
		}
	case u.found.management != nil:
		u.found.pivoted = true
		report.Progress("the management cluster answers, the bootstrap cluster is gone")
	case u.found.bootstrap != nil:
		report.Progress("the bootstrap cluster answers, no management cluster yet")
	default:
		return u.refuseOrphans(ctx, report)
	}
	return nil
}

// refuseOrphans fails when machines of this environment are left but no cluster that answers for them: making a second
// set beside them would end in two clusters of one name, and a bootstrap cluster that does not answer may still hold
// the only definition of them.
func (u *Up) refuseOrphans(ctx context.Context, report pipeline.Reporter) error {
	machines, err := u.machines(ctx)
	if err != nil {
		return err
	}
	if len(machines) == 0 {
		report.Progress("no machines found: a fresh start")
		return nil
	}
	return fault.New(fault.ClusterUnreachable,
		fmt.Sprintf("machines of %s exist (%v), but the cluster that holds their definition does not answer", u.Environment.ClusterName(), machines),
		"If Docker was restarted, start its containers: docker start "+kind.NodeName(u.BootstrapName())+" "+strings.Join(machines, " ")+
			". After the pivot restore the kubeconfig at "+u.KubeconfigPath+". If that cluster is not needed: cluster-init cleanup "+u.Environment.Name()+" --yes.")
}

// machines returns the containers of the management cluster's machines.
func (u *Up) machines(ctx context.Context) ([]string, error) {
	return u.Docker.Containers(ctx, docker.Filter{Labels: []string{kind.ClusterLabel + "=" + u.Environment.ClusterName()}})
}
