package up

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// world is the part of the decider that the phases use. Tests replace it.
type world interface {
	// Connected returns one of the two clusters by its name. It returns an error if that cluster has not answered.
	Connected(name string) (*kube.Cluster, error)
	// currentDecision returns how far the move of the definition is: fresh, beforePivot or begun before the pivot,
	// finish during it, pivoted after it. It returns start if something is stopped. It changes nothing in the clusters.
	currentDecision(context.Context) (decision, error)
	// confirm observes again right before a step that cannot be undone. It fails unless the new verdict is wanted.
	confirm(context.Context, decision) (clusters.Observation, error)
	// Side returns a cluster with the path of its kubeconfig for commands that are shown to people.
	Side(*kube.Cluster) clusters.Side

	APIServerAddress() string
	ReachedAt() string
	// AdoptBootstrap connects to the new bootstrap cluster, and acquires its lease.
	AdoptBootstrap(context.Context, pipeline.Reporter) error
	ConnectManagement(context.Context) error
	TakeLease(context.Context, *kube.Cluster, pipeline.Reporter) (waited bool, err error)
	EndLease(cluster string)
	// BootstrapExists reports whether a bootstrap cluster managed by cluster-init exists. An unmanaged cluster of its
	// name is an error.
	BootstrapExists(context.Context) (bool, error)

	SetAside() error
	// KeepBootstrapKubeconfig writes the kubeconfig file that the hints of a failed move name.
	KeepBootstrapKubeconfig(*kube.Cluster) error
	// ForgetBootstrap removes the files of the bootstrap cluster from the state folder.
	ForgetBootstrap() error
}

// The phases that other code refers to by name.
const (
	PhaseLook             = "look"              // after it, the run knows the stored values
	phaseAddress          = "address"           // after it, the run knows the address of the API server
	PhaseImages           = "images"            // changes the Docker engine only
	PhaseBootstrapCluster = "bootstrap-cluster" // if it is pending in a dry run, so is the removal
	PhaseSelfManagement   = "self-management"   // after it, the cluster counts as built
	PhaseBootstrapRemoval = "bootstrap-removal" // see PhaseBootstrapCluster
)

// PhaseNames returns the names of the phases of `up`, in order.
func PhaseNames() []string {
	return []string{"preflight", PhaseLook, phaseAddress, PhaseImages, "registry", PhaseBootstrapCluster,
		"bootstrap-flux", "management-cluster", "management-flux", "management-release", "management-available", "pivot", "definition",
		PhaseSelfManagement, PhaseBootstrapRemoval}
}

// Phases returns the phases of `up`, in order. A phase uses the environment as it is when the phase begins: the phase
// look finds which values the cluster keeps.
func (u *Run) Phases() []pipeline.Phase {
	phases := u.phases()
	for i, p := range phases {
		phases[i].Run = func(ctx context.Context, report pipeline.Reporter) error {
			return u.phases()[i].Run(ctx, report)
		}
		if p.Check != nil {
			phases[i].Check = func(ctx context.Context) (pipeline.Status, error) { return u.phases()[i].Check(ctx) }
		}
		if p.Does != nil {
			phases[i].Does = func() (string, error) { return u.phases()[i].Does() }
		}
	}
	return phases
}

func (u *Run) phases() []pipeline.Phase {
	d, short, long := u.decider, 10*time.Minute, u.Timeout
	lookTimeout := max(short, u.Timeout/3) // a longer --timeout also gives it more time
	r := releases{environment: u.Environment, scope: u.Scope, source: u.Source, published: &u.published,
		heartbeat: u.Heartbeat, now: d.Now, provider: d.Provider, kinds: d.Provider.Kinds(),
		causes: u.Causes, keepWaiting: u.KeepWaiting}
	wanted := bootstrap.Wanted{Supplies: u.Supplies, Environment: u.Environment, StateFolder: u.StateFolder,
		Existing: u.BootstrapKubeconfig, Engine: d.Docker, Kind: d.Kind}
	flux := func(phase environment.Phase) bootstrap.Flux {
		return bootstrap.Flux{
			Environment: u.Environment, Phase: phase, Fetch: u.Manifests, Follow: r.followOptions(nil),
			Source: u.Source.Kind, Shared: phase == environment.Bootstrap && u.BootstrapKubeconfig != "",
		}
	}

	preflight := bootstrap.Preflight{Wanted: wanted, World: d, Provider: d.Provider}
	look := look{decider: d, engine: d.Docker, cluster: u.Environment.ClusterName(),
		changes: changes{u.Environment, u.Source, u.AllowChanges}, resumes: &u.resumes,
		apply: func(env *environment.Environment) { u.Environment = env }}
	address := address{provider: d.Provider, environment: u.Environment,
		apply: func(env *environment.Environment) { u.Environment = env }}
	images := bootstrap.Images{Bundle: u.Bundle, Engine: d.Docker}
	registry := bootstrap.Registry{Wanted: wanted, Published: &u.published}
	bootstrapCluster := bootstrapCluster{world: d, wanted: wanted}
	bootstrapFlux := fluxInstall{cluster: clusters.BootstrapName, world: d, flux: flux(environment.Bootstrap),
		untilPivot: true}
	managementCluster := managementCluster{world: d, releases: r, place: d.Provider.Place()}
	managementFlux := fluxInstall{cluster: clusters.ManagementName, world: d, flux: flux(environment.Management)}
	managementRelease := managementRelease{world: d, releases: r}
	managementAvailable := managementAvailable{world: d, releases: r}
	pivot := u.pivotMove()
	definition := definition{world: d, releases: r}
	selfManagement := selfManagement{world: d, releases: r}
	bootstrapRemoval := bootstrapRemoval{world: d, options: u.Options, scope: u.Scope, kind: d.Kind}

	return []pipeline.Phase{
		{Name: "preflight", Title: preflight.Title(), Timeout: 5 * time.Minute, Looks: true, Run: preflight.Run},
		{Name: PhaseLook, Title: "look for an earlier run", Timeout: lookTimeout, Looks: true, Run: look.run},
		{Name: phaseAddress, Title: "address of the API server", Timeout: 5 * time.Minute, Check: address.check,
			Run: address.run, Does: address.does},
		{Name: PhaseImages, Title: "node images from the bundle", Timeout: short, Check: images.Check, Run: images.Run,
			Does: pipeline.Says(images.Does())},
		{Name: "registry", Title: "registry and content", Timeout: short, Check: registry.Check, Run: registry.Run,
			Does: pipeline.Says(u.Supplies.Publishes())},
		{Name: PhaseBootstrapCluster, Title: "bootstrap cluster", Timeout: short, Check: bootstrapCluster.check,
			Run: bootstrapCluster.run, Does: bootstrapCluster.does},
		{Name: "bootstrap-flux", Title: "Flux in the bootstrap cluster", Timeout: long, Check: bootstrapFlux.check,
			Run: bootstrapFlux.run, Does: bootstrapFlux.does},
		{Name: "management-cluster", Title: "components and management cluster", Timeout: long,
			Check: managementCluster.check, Run: managementCluster.run,
			Does: managementCluster.does},
		{Name: "management-flux", Title: "Flux in the management cluster", Timeout: long, Check: managementFlux.check,
			Run: managementFlux.run, Does: managementFlux.does},
		{Name: "management-release", Title: "components in the management cluster", Timeout: long,
			Check: managementRelease.check, Run: managementRelease.run,
			Does: managementRelease.does},
		{Name: "management-available", Title: "management cluster is available", Timeout: long,
			Check: managementAvailable.check, Run: managementAvailable.run,
			Does: managementAvailable.does},
		{Name: "pivot", Title: "pivot", Timeout: short, Check: pivot.check, Run: pivot.run,
			Does: pivot.does},
		{Name: "definition", Title: "management cluster syncs its own definition", Timeout: long, Run: definition.run,
			Does: pipeline.Says("have the management cluster's Flux apply its own definition")},
		{Name: PhaseSelfManagement, Title: "management cluster manages itself", Timeout: long, Run: selfManagement.run,
			Does: pipeline.Says("prove that the management cluster manages itself, and that no machine was replaced")},
		{Name: PhaseBootstrapRemoval, Title: "delete the bootstrap cluster", Timeout: 5 * time.Minute,
			Check: bootstrapRemoval.check, Run: bootstrapRemoval.run,
			Does: pipeline.Says("delete the kind cluster " + u.BootstrapName())},
	}
}

// nothingToDo is the status of a Check that found nothing to do.
func nothingToDo(why string) (pipeline.Status, error) {
	return pipeline.Status{State: pipeline.Done, Message: why}, nil
}

// pendingUntilPivot is the Check of a phase that runs every time until a pivot has moved something. The phase can run
// again: applying the same objects changes nothing.
func pendingUntilPivot(ctx context.Context, world world, afterwards string) (pipeline.Status, error) {
	switch current, err := world.currentDecision(ctx); {
	case err != nil:
		return pipeline.Status{}, err
	case current == pivoted:
		return nothingToDo(afterwards)
	case current == finish:
		return nothingToDo("not before the move of the definition, which was interrupted, is finished")
	}
	return pipeline.Status{}, nil
}
