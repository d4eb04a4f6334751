package clusters

import (
	"context"
	"fmt"
	"slices"
)

// ObserveLasting is Observe for callers that only report. If something is stopped, it observes again after a pause,
// because a container that is being created or deleted does not run either. The result reports as stopped only what was
// stopped both times. A management cluster that was silent is not asked again: it can take seconds to say nothing.
func (w *World) ObserveLasting(ctx context.Context) Observation {
	before := w.Observe(ctx)
	if !before.Stopped() {
		return before
	}
	w.pause(ctx)
	o := w.observe(ctx, func(ctx context.Context, fromBootstrap []byte) ManagementSide {
		if before.Management.State == ManagementSilent {
			return before.Management
		}
		return w.SeeManagement(ctx, fromBootstrap)
	})
	was := map[string]bool{}
	for _, m := range before.Machines {
		was[m.Name] = m.Stopped
	}
	o.Machines = slices.Clone(o.Machines)
	for i, m := range o.Machines {
		o.Machines[i].Stopped = m.Stopped && was[m.Name]
	}
	if o.Bootstrap.State == BootstrapStopped && before.Bootstrap.State != BootstrapStopped {
		o.Bootstrap = BootstrapSide{State: BootstrapSilent, Err: fmt.Errorf("the bootstrap cluster %s has just stopped",
			w.BootstrapName())}
	}
	return o
}
