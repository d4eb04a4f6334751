package down

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// leftovers has cleanup delete what is left: the bootstrap cluster, the registry, volumes, files, and what controllers have made in a cloud.
type leftovers struct {
	world  clusters
	asked  Options
	leases *lease.Set
}

// run insists where cleanup would ask for --force: that nobody holds the definition, and that no machine exists, was seen a moment before.
func (l leftovers) run(ctx context.Context, report pipeline.Reporter) error {
	if _, err := l.world.confirm(ctx, sweep); err != nil {
		return err
	}
	cleaner := l.asked.Cleaner
	cleaner.Forced, cleaner.Leases = true, l.leases
	cleaner.Told = func(r cleanup.Result) { report.Progress("%s %s %s", r.Outcome, r.Kind, r.Name) }
	plan, err := cleaner.Plan(ctx)
	if err != nil {
		return err
	}
	if plan, err = cleaner.Claim(ctx, l.asked.Observer, plan); err != nil {
		return err
	}
	receipt, err := cleaner.Run(ctx, plan)
	if err != nil {
		return fault.Wrap(err, fault.CodeOr(err, fault.CleanupFailed), "The Cluster is gone. Run the same command again, or cluster-init cleanup.")
	}
	report.Progress("deleted %d things that were left", len(receipt.Deleted))
	return nil
}
