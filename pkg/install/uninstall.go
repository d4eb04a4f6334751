package install

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// RemovalOptions are the inputs of a run of `uninstall`. The kubeconfig of the subject is that of the existing cluster.
type RemovalOptions struct {
	clusters.Subject
	Cleaner   cleanup.Cleaner // deletes the registry next to the cluster
	Heartbeat time.Duration
}

// Removal is one run of `uninstall`.
type Removal struct {
	RemovalOptions
	world   *clusters.World
	cluster *kube.Cluster // once it has answered
	id      string        // of the cluster, see owned.ServesLabel
	left    []string      // what stays, by this run's first inventory
	// collection is how long the garbage collector may take for objects whose owners are gone
	collection time.Duration
}

// NewRemoval returns a run that has not observed anything yet.
func NewRemoval(o RemovalOptions, p clusters.Parts) *Removal {
	return &Removal{RemovalOptions: o, world: clusters.New(o.Subject, p), collection: 30 * time.Second}
}

// Phases returns the phases of `uninstall`, in order. Each can run again: the mark, which goes after the proof, records
// that the run has not finished.
func (r *Removal) Phases() []pipeline.Phase {
	short := 10 * time.Minute
	return []pipeline.Phase{
		{Name: "look", Title: "check the cluster", Timeout: 5 * time.Minute, Looks: true, Run: r.look},
		{Name: "components", Title: "components", Timeout: r.Timeout, Run: r.inPlace(r.removeComponents)},
		{Name: "release", Title: "release", Timeout: short, Run: r.inPlace(r.removeRelease)},
		{Name: "flux", Title: "Flux", Timeout: short, Run: r.inPlace(r.removeFlux)},
		{Name: "proof", Title: "inventory", Timeout: short, Run: r.prove},
		{Name: "mark", Title: "the mark of the cluster", Timeout: short, Run: r.inPlace(r.removeMark)},
		{Name: "registry", Title: "registry", Timeout: short, Run: r.removeRegistry},
	}
}

// connect connects to the existing cluster. It makes a new connection each time: one that remembers the kinds that are
// served takes the end of a definition for an error.
func (r *Removal) connect(ctx context.Context) error {
	cluster, err := r.world.ConnectExisting(ctx)
	if err != nil {
		return err
	}
	id, err := identify(ctx, cluster)
	switch {
	case err != nil:
		return err
	case r.id != "" && r.id != id:
		return fault.New(fault.ClusterForeign, fmt.Sprintf("another cluster answers at %s than before: nothing more "+
			"was deleted", cluster.Config.Host), "See which cluster "+r.KubeconfigPath+" names.")
	}
	r.id, r.cluster = id, cluster
	return nil
}

// look takes the leases, and refuses what the plan has not shown to the user.
func (r *Removal) look(ctx context.Context, report pipeline.Reporter) error {
	if err := r.connect(ctx); err != nil {
		return err
	}
	if err := r.world.TakeInstallLeases(ctx, r.cluster, report); err != nil {
		return err
	}
	found, err := r.judged(ctx)
	if err != nil {
		return err
	}
	r.left = found.stays()
	report.Progress("the cluster at %s has %d components of %s", r.cluster.Config.Host, len(found.kustomizations),
		r.Cluster)
	return nil
}

// inPlace observes again before a phase that deletes, and refuses what the user was not shown. It skips the phase if
// nothing is installed any more.
func (r *Removal) inPlace(remove func(context.Context, inventory, pipeline.Reporter) error) func(context.Context,
	pipeline.Reporter) error {
	return func(ctx context.Context, report pipeline.Reporter) error {
		found, err := r.judged(ctx)
		if err != nil || !found.installed {
			return err
		}
		return remove(ctx, found, report)
	}
}

// judged returns the inventory of the cluster, or why it must stay as it is.
func (r *Removal) judged(ctx context.Context) (inventory, error) {
	err := r.connect(ctx)
	found := inventory{}
	if err == nil {
		found, err = r.inventory(ctx)
	}
	if err != nil {
		return inventory{}, fault.Wrap(fmt.Errorf("read what is installed in the cluster: %w", err),
			fault.CodeOr(err, fault.ClusterUnreachable), "Run the same command again when the cluster answers.")
	}
	return found, judgeRemoval(found, r.Subject)
}

// prove fails if the cluster still has something that install put there, and names what stays.
func (r *Removal) prove(ctx context.Context, report pipeline.Reporter) error {
	found, err := r.judged(ctx)
	if err != nil {
		return err
	}
	if err := found.prove(); err != nil {
		return err
	}
	r.left = slices.Compact(slices.Sorted(slices.Values(append(r.left, found.stays()...))))
	for _, what := range r.left {
		report.Warn("left in the cluster: %s", what)
	}
	return nil
}
