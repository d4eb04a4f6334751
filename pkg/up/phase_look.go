package up

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// look finds how far an earlier run got, and refuses if that is not known. It starts stopped containers, acquires
// leases and saves the kubeconfig.
type look struct {
	decider *decider
	engine  *docker.Client
	cluster string
	changes changes
	resumes *bool                          // run sets it
	apply   func(*environment.Environment) // sets what the later phases apply
}

func (l look) run(ctx context.Context, report pipeline.Reporter) error {
	if err := registry.CheckOurs(ctx, l.engine, l.cluster); err != nil {
		return err
	}
	o, v, err := l.decider.DecideLeased(ctx, report)
	if err != nil {
		return err
	}
	applied, err := l.changes.check(ctx, o, v, report)
	if err != nil {
		return err
	}
	if applied, err = provider.WithAddress(ctx, l.decider.Provider, applied, report); err != nil {
		return err
	}
	if err := l.checkSocket(ctx, o, v, applied, report); err != nil {
		return err
	}
	l.apply(applied)
	if v.warning != "" {
		report.Warn("%s", v.warning)
	}
	*l.resumes = resumes(o, v, l.decider.BootstrapKubeconfig != "")
	report.Progress("%s", v.reason)
	return l.decider.UseAndSave(o)
}

// checkSocket refuses a bootstrap cluster of the user's own whose nodes lack the Docker socket, if the provider for
// Docker is about to run in it.
func (l look) checkSocket(ctx context.Context, o clusters.Observation, v verdict, applied *environment.Environment,
	report pipeline.Reporter) error {
	if l.decider.BootstrapKubeconfig == "" || o.Bootstrap.Cluster == nil || v.decision != beforePivot {
		return nil
	}
	socket, err := applied.BootstrapDockerSocket()
	if err != nil || socket == "" {
		return err
	}
	return bootstrap.SocketCheck{Cluster: l.cluster, Bound: time.Minute, Every: time.Second}.Run(ctx,
		o.Bootstrap.Cluster, report)
}

// resumes reports whether an earlier run left something. given means that the bootstrap cluster is the user's own: it
// is there before the first run.
func resumes(o clusters.Observation, v verdict, given bool) bool {
	return v.decision != fresh && !(given && o.Bootstrap.State == clusters.BootstrapEmpty && v.decision == beforePivot)
}
