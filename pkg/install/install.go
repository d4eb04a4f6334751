// Package install makes an existing cluster a management cluster: Flux and the release of telco-cloud-init, without a
// bootstrap cluster, a pivot and a Cluster of its own.
package install

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Options are the inputs of a run. The kubeconfig of the subject is that of the existing cluster.
type Options struct {
	clusters.Subject
	Environment *environment.Environment // loaded with Options.Installed
	bootstrap.Supplies
	AllowChanges []string // keys of the changes that may remove something from the cluster
	Heartbeat    time.Duration
}

// Run is one run of `install`.
type Run struct {
	Options
	world     *clusters.World
	cluster   *kube.Cluster // once it has answered
	id        string        // of the cluster, see owned.ServesLabel
	published content.Published
	others    string // the namespaces of others, see owned.NamespacesAnnotation
	unchanged bool   // after the last phase
}

// New returns a run that has not observed anything yet.
func New(o Options, p clusters.Parts) *Run {
	return &Run{Options: o, world: clusters.New(o.Subject, p)}
}

// Unchanged reports whether the cluster had all of the release before this run.
func (r *Run) Unchanged() bool { return r.unchanged }

// PhaseValues is the phase after which the run knows what it applies.
const PhaseValues = "values"

// PhaseNames returns the names of the phases of `install`, in order.
func PhaseNames() []string {
	return []string{"preflight", PhaseValues, "images", "registry", "flux", "release"}
}

// Phases returns the phases of `install`, in order. Each can run again.
func (r *Run) Phases() []pipeline.Phase {
	short := 10 * time.Minute
	images := bootstrap.Images{Bundle: r.Bundle, Engine: r.world.Docker}
	return []pipeline.Phase{
		{Name: "preflight", Title: "check the cluster", Timeout: 5 * time.Minute, Looks: true, Run: r.preflight},
		{Name: PhaseValues, Title: "values of an earlier run", Timeout: short, Looks: true, Run: r.values},
		{Name: "images", Title: "node images from the bundle", Timeout: short, Check: images.Check, Run: images.Run},
		{Name: "registry", Title: "registry and content", Timeout: short,
			Check: func(ctx context.Context) (pipeline.Status, error) { return r.registry().Check(ctx) },
			Run: func(ctx context.Context, report pipeline.Reporter) error {
				return r.registry().Run(ctx, report)
			}},
		{Name: "flux", Title: "Flux", Timeout: r.Timeout, Check: r.checkFlux,
			Run: func(ctx context.Context, report pipeline.Reporter) error {
				return r.flux().Install(ctx, r.cluster, report)
			}},
		{Name: "release", Title: "components", Timeout: r.Timeout, Run: r.applyRelease},
	}
}

func (r *Run) wanted() bootstrap.Wanted {
	return bootstrap.Wanted{Supplies: r.Supplies, Environment: r.Environment, StateFolder: r.StateFolder,
		Engine: r.world.Docker, Kind: r.world.Kind}
}

func (r *Run) registry() bootstrap.Registry {
	return bootstrap.Registry{Wanted: r.wanted(), Serves: r.id, Published: &r.published}
}

// flux is not restricted: the cluster has other users.
func (r *Run) flux() bootstrap.Flux {
	return bootstrap.Flux{Environment: r.Environment, Phase: environment.Management, Fetch: r.Manifests,
		Follow: r.follow(), Source: r.Source.Kind, Shared: true}
}

func (r *Run) checkFlux(ctx context.Context) (pipeline.Status, error) {
	installed, err := r.flux().Installed(ctx, r.cluster)
	if err != nil || !installed {
		return pipeline.Status{}, err
	}
	return pipeline.Status{State: pipeline.Done, Message: "Flux " + flux.Version + " is running"}, nil
}

func (r *Run) follow() rollout.Options {
	return rollout.Options{Heartbeat: r.Heartbeat, Now: r.world.Now, Kinds: r.world.Provider.Kinds()}
}

// values takes the leases, and decides what is applied: a cluster keeps what it was last given where only the shell of
// this run says otherwise.
func (r *Run) values(ctx context.Context, report pipeline.Reporter) error {
	if err := r.world.TakeInstallLeases(ctx, r.cluster, report); err != nil {
		return err
	}
	if err := r.checkOwner(ctx); err != nil { // another run may have come first
		return err
	}
	last, err := rollout.LastAppliedValues(ctx, r.cluster)
	if err != nil {
		return err
	}
	if r.others, err = r.namespacesOfOthers(ctx); err != nil {
		return err
	}
	env := r.Environment
	if last.Values != nil {
		var kept []environment.Kept
		if env, kept, err = env.Keep(last, r.AllowChanges); err != nil {
			return err
		}
		for _, k := range kept {
			report.Progress("%s", k)
		}
		changes, err := env.Changes(last)
		if err != nil {
			return err
		}
		for _, c := range changes {
			report.Progress("changed since the last run: %s", c)
		}
		if err := environment.RefuseRemovals(ofComponents(changes), r.AllowChanges); err != nil {
			return err
		}
	}
	r.Environment, err = env.WithFingerprintKey()
	return err
}
