package bootstrap

import (
	"context"
	"fmt"

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

// managementCluster installs the release in the bootstrap cluster and follows it until the management cluster is up.
func (u *Up) managementCluster() pipeline.Phase {
	r := release{phase: environment.Bootstrap, definition: true}
	return pipeline.Phase{
		Name: "management-cluster", Title: "components and management cluster", Needs: []string{"bootstrap-flux"}, Timeout: u.Timeout,
		Check: func(context.Context) (pipeline.Status, error) {
			if u.found.pivoted {
				return u.done("it holds its own definition")
			}
			return pipeline.Status{}, nil
		},
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			token, err := u.applyRelease(ctx, u.found.bootstrap, r)
			if err != nil {
				return err
			}
			report.Progress("applied the HelmRelease telco-cloud-init")
			cluster := key{"Cluster", u.Environment.ClusterNamespace(), u.Environment.ClusterName()}
			if err := u.awaitRelease(ctx, u.found.bootstrap, r, token, report, cluster); err != nil {
				return err
			}
			if err := u.connectManagement(ctx); err != nil {
				return fmt.Errorf("connecting to the management cluster: %w", err)
			}
			report.Progress("the management cluster answers at %s", u.found.management.Config.Host)
			return nil
		},
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
		Check: func(context.Context) (pipeline.Status, error) {
			if u.found.pivoted {
				return u.done("together with its definition, below")
			}
			return pipeline.Status{}, nil
		},
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			r := release{phase: environment.Management}
			token, err := u.applyRelease(ctx, u.found.management, r)
			if err != nil {
				return err
			}
			return u.awaitRelease(ctx, u.found.management, r, token, report)
		},
	}
}

// definition enables the component `cluster` in the management cluster, so that its definition is synced there.
func (u *Up) definition() pipeline.Phase {
	return pipeline.Phase{
		Name: "definition", Title: "management cluster syncs its own definition", Needs: []string{"pivot"}, Timeout: u.Timeout,
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			r := release{phase: environment.Management, definition: true}
			token, err := u.applyRelease(ctx, u.found.management, r)
			if err != nil {
				return err
			}
			return u.awaitRelease(ctx, u.found.management, r, token, report)
		},
	}
}
