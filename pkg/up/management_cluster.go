package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// managementCluster installs the release in the bootstrap cluster and follows it until the API server of the management
// cluster answers. It does not wait until that cluster is Available: the next phases can wait as well.
type managementCluster struct {
	world    definer
	releases releases
}

// definer is what applying a definition, which creates machines, needs of the decider.
type definer interface {
	observer
	confirm(context.Context, decision) (clusters.Observation, error)
	SetAside() error
	ConnectManagement(context.Context) error
	TakeLease(context.Context, *kube.Cluster, pipeline.Reporter) (bool, error)
}

func (m managementCluster) check(ctx context.Context) (pipeline.Status, error) {
	return beforePivot(ctx, m.world, "it holds its own definition")
}

func (m managementCluster) run(ctx context.Context, report pipeline.Reporter) error {
	if err := m.releases.checkSource(ctx, m.world, environment.Bootstrap, report); err != nil {
		return err
	}
	allows, err := m.world.progress(ctx)
	if err != nil {
		return err
	}
	// A pivot that was begun and has moved nothing ends when the release is applied: that resumes Flux.
	if allows != begun {
		allows = goOn
	}
	o, err := m.world.confirm(ctx, allows)
	if err != nil {
		return err
	}
	if o.Bootstrap.State == clusters.BootstrapEmpty && o.Management.State == clusters.ManagementSilent {
		if err := m.world.SetAside(); err != nil {
			return err
		}
	}
	bootstrap, err := m.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	release := m.releases.of(environment.Bootstrap, true)
	token, err := release.Apply(ctx, bootstrap, clusters.Suspension(bootstrap, m.releases.scope), m.releases.now())
	if err != nil {
		return err
	}
	report.Progress("applied the HelmRelease telco-cloud-init")
	g := release.Goal(bootstrap, token, "cluster", "cni", "cloud-provider")
	g.What = "the components of the bootstrap cluster and the API server of the management cluster"
	g.Until = func(ctx context.Context) bool { return m.world.ConnectManagement(ctx) == nil }
	following := m.releases.following(nil)
	following.Renew = true // with corrected values the run resumes, even if the first machine failed with the old ones
	if err := rollout.NewFollower(bootstrap, following).Await(ctx, g, report); err != nil {
		return err
	}
	management, err := m.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	if _, err := m.world.TakeLease(ctx, management, report); err != nil {
		return err
	}
	report.Progress("the management cluster answers at %s", management.Config.Host)
	return nil
}
