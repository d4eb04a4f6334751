package up

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// managementCluster installs the release in the bootstrap cluster and follows it until the API server of the management
// cluster answers. It does not wait until that cluster is Available: the phase managementAvailable does.
type managementCluster struct {
	world    world
	releases releases
	place    string // where the provider creates machines
}

func (m managementCluster) does() (string, error) {
	env := m.releases.environment
	components, err := m.releases.components(environment.Bootstrap)
	if err != nil {
		return "", err
	}
	spec := env.Spec().Cluster
	return fmt.Sprintf("install telco-cloud-init %s with the components %s in the bootstrap cluster, which make "+
		"cluster %s: %d control-plane machines and %d workers in %s, Kubernetes %s", env.ChartVersion(), components,
		env.ClusterName(), spec.ControlPlane.Replicas, spec.WorkerCount(), m.place, env.KubernetesVersion()), nil
}

func (m managementCluster) check(ctx context.Context) (pipeline.Status, error) {
	return pendingUntilPivot(ctx, m.world, "it holds its own definition")
}

func (m managementCluster) run(ctx context.Context, report pipeline.Reporter) error {
	if err := m.releases.checkSource(ctx, m.world, environment.Bootstrap, report); err != nil {
		return err
	}
	wanted, err := m.world.currentDecision(ctx)
	if err != nil {
		return err
	}
	// Applying the release resumes Flux, and so cancels a pivot that was begun and has moved nothing.
	if wanted != begun {
		wanted = beforePivot
	}
	o, err := m.world.confirm(ctx, wanted)
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
	release := m.releases.forPhase(environment.Bootstrap, true)
	token, err := release.Apply(ctx, bootstrap, clusters.Suspension(bootstrap, m.releases.scope), m.releases.now())
	if err != nil {
		return err
	}
	report.Progress("applied the HelmRelease telco-cloud-init")
	g := release.Goal(bootstrap, token, "cluster", "cni", "cloud-provider")
	g.What = "the components of the bootstrap cluster and the API server of the management cluster"
	g.Until = func(ctx context.Context) bool { return m.world.ConnectManagement(ctx) == nil }
	follow := m.releases.followOptions(nil)
	follow.Renew = true // with corrected values the run resumes, even if the first machine failed with the old ones
	if err := rollout.NewFollower(bootstrap, follow).Await(ctx, g, report); err != nil {
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

// managementRelease installs the same release in the management cluster. Until the pivot the component `cluster` stays
// off there: two clusters must never both reconcile one definition.
type managementRelease struct {
	world    world
	releases releases
}

func (m managementRelease) does() (string, error) {
	components, err := m.releases.components(environment.Management)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("install telco-cloud-init %s with the components %s in the management cluster, all but its "+
		"definition", m.releases.environment.ChartVersion(), components), nil
}

func (m managementRelease) check(ctx context.Context) (pipeline.Status, error) {
	return pendingUntilPivot(ctx, m.world, "together with its definition, below")
}

func (m managementRelease) run(ctx context.Context, report pipeline.Reporter) error {
	management, err := m.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	// Components that the bootstrap cluster still has to install there, such as the network, can block the release.
	bootstrap, err := m.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	return m.releases.sync(ctx, management, false, bootstrap, report)
}

// managementAvailable waits until the bootstrap cluster has nothing left to do for the management cluster.
type managementAvailable struct {
	world    world
	releases releases
}

func (m managementAvailable) does() (string, error) {
	env := m.releases.environment
	return "wait until Cluster " + env.ClusterNamespace() + "/" + env.ClusterName() +
		" is available with all its machines", nil
}

func (m managementAvailable) check(ctx context.Context) (pipeline.Status, error) {
	return pendingUntilPivot(ctx, m.world, "it holds its own definition")
}

func (m managementAvailable) run(ctx context.Context, report pipeline.Reporter) error {
	bootstrap, err := m.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	g := m.releases.forPhase(environment.Bootstrap, true).Goal(bootstrap, "")
	g.What = "the management cluster"
	g.Ready = append(g.Ready, m.releases.clusterKey())
	return m.releases.follow(ctx, bootstrap, g, nil, report)
}
