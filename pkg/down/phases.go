package down

import (
	"context"
	"errors"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// world is the part of the decider that the phases use. Tests replace it.
type world interface {
	// AskEngine asks the Docker engine where it runs: its machine publishes the ports.
	AskEngine(context.Context) (docker.Info, error)
	DecideLeased(context.Context, pipeline.Reporter) (clusters.Observation, verdict, error)
	UseAndSave(clusters.Observation) error
	// Connected returns one of the two clusters by its name. It returns an error if that cluster has not answered.
	Connected(name string) (*kube.Cluster, error)
	// observe returns how far the move of the definition is. It changes nothing.
	observe(context.Context) (clusters.Observation, verdict, error)
	// peekBootstrap does the same, and checks only the bootstrap cluster if that is enough.
	peekBootstrap(context.Context) (verdict, error)
	// confirm observes again right before a step that cannot be undone. It fails unless the new verdict is wanted.
	confirm(context.Context, decision) (clusters.Observation, error)
	request(clusters.Observation) request
	Side(*kube.Cluster) clusters.Side

	APIServerAddress() string
	ReachedAt() string
	// AdoptBootstrap connects to the new bootstrap cluster, and acquires its lease.
	AdoptBootstrap(context.Context, pipeline.Reporter) error
	// EndLease stops the renewal of the lease in a cluster, because that cluster is deleted.
	EndLease(cluster string)
	// KeepBootstrapKubeconfig writes the kubeconfig file that the hints of a failed move name.
	KeepBootstrapKubeconfig(*kube.Cluster) error
}

// PhaseNames returns the names of the phases of `down`, in order.
func PhaseNames() []string {
	return []string{"look", "preflight", "images", "registry", "bootstrap-cluster", "bootstrap-flux", "providers",
		"workload-clusters", "move-back", "delete", "cleanup"}
}

// Phases returns the phases of `down`, in order. A phase uses the environment as it is when the phase begins: the phase
// look finds which values the cluster keeps.
func (d *Run) Phases() []pipeline.Phase {
	phases := d.phases()
	for i, p := range phases {
		phases[i].Run = func(ctx context.Context, report pipeline.Reporter) error {
			return d.phases()[i].Run(ctx, report)
		}
		if p.Check != nil {
			phases[i].Check = func(ctx context.Context) (pipeline.Status, error) { return d.phases()[i].Check(ctx) }
		}
	}
	return phases
}

func (d *Run) phases() []pipeline.Phase {
	w, short, long := d.decider, 10*time.Minute, d.Timeout
	wanted := bootstrap.Wanted{Supplies: d.Supplies, Environment: d.Environment, StateFolder: d.StateFolder,
		Engine: w.Docker, Kind: w.Kind}
	wanted.Programs = content.Programs{} // down makes no machine
	follow := rollout.Options{Heartbeat: d.Heartbeat, Now: w.Now, Kinds: w.Provider.Kinds(),
		Cluster: rollout.Key{Kind: "Cluster", Namespace: d.Scope.Namespace, Name: d.Scope.Cluster}}

	others := d.otherClusters(d.ConfirmedWorkloadClusters)
	look := look{world: w, others: others, keep: d.keepValues}
	workload := workloadClusters{world: w, others: others, checkMove: pivot.CheckSides, provider: d.WorkloadProvider,
		deletion: func(c *kube.Cluster) clusters.Deletion {
			return clusters.Deletion{Cluster: c, Heartbeat: d.Heartbeat, Now: w.Now}
		}}
	preflight := bootstrap.Preflight{Wanted: wanted, World: w}
	images := bootstrap.Images{Bundle: d.Bundle, Engine: w.Docker}
	registry := bootstrap.Registry{Wanted: wanted, Published: &d.published}
	cluster := bootstrapCluster{world: w, wanted: wanted}
	flux := bootstrapFlux{world: w, flux: bootstrap.Flux{
		Environment: d.Environment, Phase: environment.Bootstrap, Fetch: d.Manifests, Follow: follow,
		Source: d.Source.Kind, Shared: d.BootstrapKubeconfig != "",
	}}
	providers := providers{world: w, scope: d.Scope, release: rollout.Release{Environment: d.Environment,
		Source: d.Source, ProvidersOnly: true}, published: &d.published, follow: follow, now: w.Now}
	back := moveBackPhase{world: w, others: others, scope: d.Scope, options: d.Options, move: capi.Move, now: w.Now}
	deletion := deletion{world: w, others: others, scope: d.Scope, heartbeat: d.Heartbeat, now: w.Now}
	rest := leftovers{world: w, others: others, options: d.Options, leases: w.Leases}

	return []pipeline.Phase{
		{Name: "look", Title: "look what there is", Timeout: short, Looks: true, Run: look.run},
		{Name: "preflight", Title: "check this machine", Timeout: 5 * time.Minute, Looks: true,
			Check: onlyToMove(w, nil), Run: preflight.Run},
		{Name: "images", Title: "node images from the bundle", Timeout: short, Check: onlyToMove(w, images.Check),
			Run: images.Run},
		{Name: "registry", Title: "registry and content", Timeout: short, Check: onlyToMove(w, registry.Check),
			Run: registry.Run},
		{Name: "bootstrap-cluster", Title: "bootstrap cluster", Timeout: short, Check: onlyToMove(w, nil),
			Run: cluster.run},
		{Name: "bootstrap-flux", Title: "Flux in the bootstrap cluster", Timeout: long, Check: onlyToMove(w, nil),
			Run: flux.run},
		{Name: "providers", Title: "providers in the bootstrap cluster", Timeout: long, Check: onlyToMove(w, nil),
			Run: providers.run},
		{Name: "workload-clusters", Title: "workload clusters", Timeout: long, Run: workload.run},
		{Name: "move-back", Title: "move the definition back", Timeout: short, Check: onlyToMove(w, nil),
			Run: back.run},
		{Name: "delete", Title: "delete the Cluster", Timeout: long, Check: deletion.check, Run: deletion.run},
		{Name: "cleanup", Title: "leftovers", Timeout: long, Run: rest.run},
	}
}

// onlyToMove is the Check of a phase that only the move back needs. also is a further Check of that phase, or nil.
func onlyToMove(world world, also func(context.Context) (pipeline.Status, error)) func(context.Context) (
	pipeline.Status, error) {
	return func(ctx context.Context) (pipeline.Status, error) {
		v, err := world.peekBootstrap(ctx)
		switch {
		case err != nil:
			return pipeline.Status{}, err
		case v.decision == start:
			return pipeline.Status{}, stoppedMeanwhile()
		case v.decision != moveBack:
			return pipeline.Status{State: pipeline.Done, Message: "not needed: " + v.reason}, nil
		case also == nil:
			return pipeline.Status{}, nil
		}
		return also(ctx)
	}
}

func stoppedMeanwhile() error {
	return fault.Retryable(errors.New("something of it was stopped meanwhile"), fault.ClusterUnreachable,
		"Run the same command again, which starts it.")
}
