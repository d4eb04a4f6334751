package bootstrap

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

func (u *Up) bootstrapFlux() pipeline.Phase {
	return pipeline.Phase{
		Name: "bootstrap-flux", Title: "Flux in the bootstrap cluster", Needs: []string{"bootstrap-cluster"}, Timeout: u.Timeout,
		Check: func(ctx context.Context) (pipeline.Status, error) {
			if u.found.pivoted {
				return u.done("not needed any more")
			}
			return u.fluxInstalled(ctx, u.found.bootstrap)
		},
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			return u.installFlux(ctx, u.found.bootstrap, report)
		},
	}
}

// bootstrapRelease is the release that builds the management cluster.
func bootstrapRelease() release { return release{phase: environment.Bootstrap, definition: true} }

// managementCluster installs the release in the bootstrap cluster and follows it until the management cluster's API
// answers. It does not wait until that cluster is Available: what is installed there next can as well wait there.
func (u *Up) managementCluster() pipeline.Phase {
	return pipeline.Phase{
		Name: "management-cluster", Title: "components and management cluster", Needs: []string{"bootstrap-flux"}, Timeout: u.Timeout,
		Check: u.beforePivot("it holds its own definition"),
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			o, err := u.confirm(ctx, goOn) // a definition makes machines
			if err != nil {
				return err
			}
			if o.bootstrap.state == bootstrapEmpty && o.management.state == managementSilent {
				if err := u.setAside(); err != nil {
					return err
				}
			}
			token, err := u.applyRelease(ctx, u.found.bootstrap, bootstrapRelease())
			if err != nil {
				return err
			}
			report.Progress("applied the HelmRelease telco-cloud-init")
			g, err := u.releaseGoal(u.found.bootstrap, bootstrapRelease(), token, "cluster", "cni", "cloud-provider")
			if err != nil {
				return err
			}
			g.what = "the components of the bootstrap cluster and the API server of the management cluster"
			g.until = func(ctx context.Context) bool { return u.connectManagement(ctx) == nil }
			if err := u.follow(ctx, u.found.bootstrap, g, report); err != nil {
				return err
			}
			if _, err := u.takeLease(ctx, u.found.management, report); err != nil {
				return err
			}
			report.Progress("the management cluster answers at %s", u.found.management.Config.Host)
			return nil
		},
	}
}

// managementAvailable waits until the bootstrap cluster has nothing left to do for the management cluster.
func (u *Up) managementAvailable() pipeline.Phase {
	return pipeline.Phase{
		Name: "management-available", Title: "management cluster is available", Needs: []string{"management-release"}, Timeout: u.Timeout,
		Check: u.beforePivot("it holds its own definition"),
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			g, err := u.releaseGoal(u.found.bootstrap, bootstrapRelease(), "")
			if err != nil {
				return err
			}
			g.what = "the management cluster"
			g.ready = append(g.ready, u.clusterKey())
			return u.follow(ctx, u.found.bootstrap, g, report)
		},
	}
}

// beforePivot is the Check of a phase that runs each time, as applying what is there already changes nothing, but
// only until the pivot is done.
func (u *Up) beforePivot(afterwards string) func(context.Context) (pipeline.Status, error) {
	return func(context.Context) (pipeline.Status, error) {
		if u.found.pivoted {
			return u.done(afterwards)
		}
		return pipeline.Status{}, nil
	}
}

func (u *Up) managementFlux() pipeline.Phase {
	return pipeline.Phase{
		Name: "management-flux", Title: "Flux in the management cluster", Needs: []string{"management-cluster"}, Timeout: u.Timeout,
		Check: func(ctx context.Context) (pipeline.Status, error) { return u.fluxInstalled(ctx, u.found.management) },
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			return u.installFlux(ctx, u.found.management, report)
		},
	}
}

// managementRelease installs the same release in the management cluster. Until the pivot is done the component
// `cluster` stays off there: two clusters must never both reconcile one definition.
func (u *Up) managementRelease() pipeline.Phase {
	return pipeline.Phase{
		Name: "management-release", Title: "components in the management cluster", Needs: []string{"management-flux"}, Timeout: u.Timeout,
		Check: u.beforePivot("together with its definition, below"),
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			return u.sync(ctx, release{phase: environment.Management}, report)
		},
	}
}

// definition enables the component `cluster` in the management cluster, so that its definition is synced there.
func (u *Up) definition() pipeline.Phase {
	return pipeline.Phase{
		Name: "definition", Title: "management cluster syncs its own definition", Needs: []string{"pivot"}, Timeout: u.Timeout,
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			return u.sync(ctx, release{phase: environment.Management, definition: true}, report, u.clusterKey())
		},
	}
}

// sync applies the release to the management cluster and waits until it is there, and until also is ready.
func (u *Up) sync(ctx context.Context, r release, report pipeline.Reporter, also ...key) error {
	token, err := u.applyRelease(ctx, u.found.management, r)
	if err != nil {
		return err
	}
	g, err := u.releaseGoal(u.found.management, r, token)
	if err != nil {
		return err
	}
	g.ready = append(g.ready, also...)
	return u.follow(ctx, u.found.management, g, report)
}

func (u *Up) clusterKey() key {
	return key{"Cluster", u.Environment.ClusterNamespace(), u.Environment.ClusterName()}
}
