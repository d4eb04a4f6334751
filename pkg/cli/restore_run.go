package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// alone takes the lease of the backup's cluster in the target, so that two restores of it cannot run at once. The
// caller has the lock of the state folder, which lets the lease of an earlier run of this machine be taken over at
// once.
func alone(ctx context.Context, in pivot.RestoreInput, state string, leases *lease.Set, say func(string)) error {
	of := in.Backup.Manifest
	id, err := lease.MakeID(state)
	if err != nil {
		return err
	}
	holder, err := lease.Holder(id)
	if err != nil {
		return err
	}
	_, err = leases.Take(ctx, lease.Request{Config: in.Target.Config, Where: "the target of the restore",
		Name: lease.Name(of.Namespace, of.Cluster), Holder: holder,
		Timing: lease.DefaultTiming(), Waiting: func(what string) { say("waiting to see " + what) }})
	return err
}

// adoptionPause is between two looks at what was restored.
const adoptionPause = 5 * time.Second

// await waits until the restored Clusters are available again and their Machines ready, and says what it waits for.
func (o *restoreOptions) await(ctx context.Context, in pivot.RestoreInput, sink event.Sink) (pivot.Adoption, error) {
	bounded, cancel := o.within(ctx)
	defer cancel()
	var last pivot.Adoption
	for said := (time.Time{}); ; {
		seen, err := pivot.Adopt(bounded, in.Target, in.Backup)
		if err == nil {
			last = seen
			if !seen.Waiting() {
				return seen, nil
			}
		}
		if time.Since(said) >= 30*time.Second {
			sink.Emit(waitingFor(last, err))
			said = time.Now()
		}
		select {
		case <-bounded.Done():
			if ctx.Err() != nil {
				return last, context.Cause(ctx)
			}
			return last, o.unavailable(last, err)
		case <-time.After(adoptionPause):
		}
	}
}

// within is ctx with the bound of --timeout; 0 is none.
func (o *restoreOptions) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, o.timeout)
}

// unavailable is the end of a wait: all was restored all the same.
func (o *restoreOptions) unavailable(seen pivot.Adoption, err error) error {
	if err == nil {
		err = fmt.Errorf("%d conditions are not true yet: %s", len(seen.Unmet), named(seen.Unmet))
	}
	return fault.Retryable(fmt.Errorf("all was restored, and the Clusters are not available after %s: %w", o.timeout,
		err), fault.Timeout,
		"Run the same command again: it restores nothing twice, and waits again.")
}

// mostUnmet is how many conditions an error names.
const mostUnmet = 5

func named(unmet []pivot.Unmet) string {
	var all []string
	for _, u := range unmet[:min(mostUnmet, len(unmet))] {
		all = append(all, u.String())
	}
	if left := len(unmet) - mostUnmet; left > 0 {
		all = append(all, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(all, "; ")
}

func waitingFor(seen pivot.Adoption, err error) event.Event {
	e := event.Event{Time: time.Now(), Type: event.Waiting, Message: "the restored Clusters to be available"}
	if err != nil {
		e.Message += fmt.Sprintf(" (%v)", err)
	}
	for _, u := range seen.Unmet {
		e.Objects = append(e.Objects, event.Object{Cluster: "management", Kind: string(u.Aspect), Name: u.Object,
			State: "Waiting", Message: u.Message})
	}
	return e
}
