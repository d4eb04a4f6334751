package down

import (
	"context"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// leftovers runs cleanup for what is left: the bootstrap cluster, the registry, volumes, files, and what controllers
// have created in a cloud.
type leftovers struct {
	world   world
	others  otherClusters
	options Options
	leases  *lease.Set
}

// run forces cleanup only if the bootstrap cluster records the teardown of the Cluster. Otherwise it is not known why a
// named management cluster does not answer. The bootstrap cluster is deleted last, so that its record stays until then.
func (l leftovers) run(ctx context.Context, report pipeline.Reporter) error {
	o, err := l.world.confirm(ctx, sweep)
	if err != nil {
		return err
	}
	if err := l.others.requireNone(ctx, o); err != nil { // they would be deleted with the bootstrap cluster
		return err
	}
	cleaner := l.options.Cleaner
	cleaner.Forced, cleaner.Leases = o.Bootstrap.TeardownRequested, l.leases
	cleaner.OnResult = func(r cleanup.Result) { report.Progress("%s", r) }
	plan, err := cleaner.Plan(ctx)
	if err != nil {
		return err
	}
	if plan, err = cleaner.Claim(ctx, l.options.Observer, plan); err != nil {
		return l.withRetryHint(err)
	}
	deleted := 0
	for _, part := range inOrder(plan) {
		receipt, err := cleaner.Run(ctx, part)
		if err != nil {
			return l.withRetryHint(err)
		}
		deleted += len(receipt.Deleted)
	}
	report.Progress("deleted %s", oneline.Count(deleted, "leftover"))
	return nil
}

func (l leftovers) withRetryHint(err error) error {
	env := l.options.Environment
	return fault.Wrap(err, fault.CodeOr(err, fault.CleanupFailed),
		"Run the same command again. What is left is shown, and deleted if you insist, by cluster-init cleanup "+
			env.Argument()+" --yes --force "+env.ClusterName()+".")
}

// inOrder splits a plan. The bootstrap cluster and its network come last, the files right before them.
func inOrder(plan cleanup.Plan) []cleanup.Plan {
	last := func(i cleanup.Item) bool {
		return slices.Contains([]cleanup.Kind{cleanup.BootstrapNode, cleanup.Network}, i.Kind)
	}
	files := func(i cleanup.Item) bool { return i.Kind == cleanup.File }
	var parts []cleanup.Plan
	first := func(i cleanup.Item) bool { return !last(i) && !files(i) }
	for _, selects := range []func(cleanup.Item) bool{first, files, last} {
		part := plan
		part.Delete = nil
		for _, item := range plan.Delete {
			if selects(item) {
				part.Delete = append(part.Delete, item)
			}
		}
		parts = append(parts, part)
	}
	return parts
}
