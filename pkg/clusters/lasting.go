package clusters

import (
	"context"
	"fmt"
	"slices"
)

// ObserveLasting is Observe for who only tells what is wrong: what is stopped is looked at again after a pause, as a
// container that is being made or deleted at that moment does not run either. In what it returns only that is stopped
// which was so both times.
func (w *World) ObserveLasting(ctx context.Context) Observation {
	before := w.Observe(ctx)
	if !before.Stopped() {
		return before
	}
	w.pause(ctx)
	o := w.Observe(ctx)
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
