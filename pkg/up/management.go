package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

func (u *Run) bootstrapFlux() pipeline.Phase {
	return pipeline.Phase{
		Name: "bootstrap-flux", Title: "Flux in the bootstrap cluster", Timeout: u.Timeout,
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

// release is that of a phase of the chart, by this run's source. definition is false while another cluster owns the cluster definitions.
func (u *Run) release(phase environment.Phase, definition bool) rollout.Release {
	return rollout.Release{Environment: u.Environment, Source: u.Source, Published: u.found.published, Phase: phase, Definition: definition}
}

// follow watches all that says how far a cluster is, until g is reached.
func (u *Run) follow(ctx context.Context, c *kube.Cluster, g rollout.Goal, report pipeline.Reporter) error {
	return rollout.NewFollower(c, u.following(c)).Await(ctx, g, report)
}

// following is how a cluster is followed. Until the pivot, what the bootstrap cluster still has to install in the management cluster, as its
// network and its cloud provider, holds that one up.
func (u *Run) following(c *kube.Cluster) rollout.Options {
	o := rollout.Options{Heartbeat: u.Heartbeat, Now: u.Now, Kinds: u.Provider.Kinds()}
	if c == u.found.management && !u.found.pivoted {
		o.Beside = u.found.bootstrap
	}
	return o
}

// managementCluster installs the release in the bootstrap cluster and follows it until the management cluster's API
// answers. It does not wait until that cluster is Available: what is installed there next can as well wait there.
func (u *Run) managementCluster() pipeline.Phase {
	return pipeline.Phase{
		Name: "management-cluster", Title: "components and management cluster", Timeout: u.Timeout,
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
			token, err := u.release(environment.Bootstrap, true).Apply(ctx, u.found.bootstrap, u.suspension(u.found.bootstrap), u.Now())
			if err != nil {
				return err
			}
			report.Progress("applied the HelmRelease telco-cloud-init")
			g, err := u.release(environment.Bootstrap, true).Goal(bootstrapName, token, "cluster", "cni", "cloud-provider")
			if err != nil {
				return err
			}
			g.What = "the components of the bootstrap cluster and the API server of the management cluster"
			g.Until = func(ctx context.Context) bool { return u.connectManagement(ctx) == nil }
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
func (u *Run) managementAvailable() pipeline.Phase {
	return pipeline.Phase{
		Name: "management-available", Title: "management cluster is available", Timeout: u.Timeout,
		Check: u.beforePivot("it holds its own definition"),
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			g, err := u.release(environment.Bootstrap, true).Goal(bootstrapName, "")
			if err != nil {
				return err
			}
			g.What = "the management cluster"
			g.Ready = append(g.Ready, u.clusterKey())
			return u.follow(ctx, u.found.bootstrap, g, report)
		},
	}
}

// beforePivot is the Check of a phase that runs each time, as applying what is there already changes nothing, but
// only until the pivot is done.
func (u *Run) beforePivot(afterwards string) func(context.Context) (pipeline.Status, error) {
	return func(context.Context) (pipeline.Status, error) {
		if u.found.pivoted {
			return u.done(afterwards)
		}
		return pipeline.Status{}, nil
	}
}

func (u *Run) managementFlux() pipeline.Phase {
	return pipeline.Phase{
		Name: "management-flux", Title: "Flux in the management cluster", Timeout: u.Timeout,
		Check: func(ctx context.Context) (pipeline.Status, error) { return u.fluxInstalled(ctx, u.found.management) },
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			return u.installFlux(ctx, u.found.management, report)
		},
	}
}

// managementRelease installs the same release in the management cluster. Until the pivot is done the component
// `cluster` stays off there: two clusters must never both reconcile one definition.
func (u *Run) managementRelease() pipeline.Phase {
	return pipeline.Phase{
		Name: "management-release", Title: "components in the management cluster", Timeout: u.Timeout,
		Check: u.beforePivot("together with its definition, below"),
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			return u.sync(ctx, u.release(environment.Management, false), report)
		},
	}
}

// definition enables the component `cluster` in the management cluster, so that its definition is synced there.
func (u *Run) definition() pipeline.Phase {
	return pipeline.Phase{
		Name: "definition", Title: "management cluster syncs its own definition", Timeout: u.Timeout,
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			return u.sync(ctx, u.release(environment.Management, true), report, u.clusterKey())
		},
	}
}

// sync applies the release to the management cluster and waits until it is there, and until also is ready.
func (u *Run) sync(ctx context.Context, r rollout.Release, report pipeline.Reporter, also ...rollout.Key) error {
	token, err := r.Apply(ctx, u.found.management, u.suspension(u.found.management), u.Now())
	if err != nil {
		return err
	}
	g, err := r.Goal(managementName, token)
	if err != nil {
		return err
	}
	g.Ready = append(g.Ready, also...)
	return u.follow(ctx, u.found.management, g, report)
}

func (u *Run) clusterKey() rollout.Key {
	return rollout.Key{Kind: "Cluster", Namespace: u.Environment.ClusterNamespace(), Name: u.Environment.ClusterName()}
}
