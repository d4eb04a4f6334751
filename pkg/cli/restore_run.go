package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// alone takes the lease of the backup's cluster in the target, so that two restores cannot run at the same time. The
// caller holds the lock of the state folder, so a lease of an earlier run on this machine is taken over at once.
func alone(ctx context.Context, in restore.Input, state string, leases *lease.Set, say func(string)) error {
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

// adoptionPause is the interval between two observations of restored objects.
const adoptionPause = 5 * time.Second

// await waits until the restored Clusters are available and their Machines ready, and reports what it waits for.
func (o *restoreOptions) await(ctx context.Context, in restore.Input, sink event.Sink) (restore.Adoption, error) {
	bounded, cancel := o.within(ctx)
	defer cancel()
	var last restore.Adoption
	for said := (time.Time{}); ; {
		seen, err := restore.Adopt(bounded, in.Target, in.Backup)
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

// unavailable is the error of a wait that timed out after a complete restore.
func (o *restoreOptions) unavailable(seen restore.Adoption, err error) error {
	if err == nil {
		err = fmt.Errorf("%d conditions are not true yet: %s", len(seen.Unmet), named(seen.Unmet))
	}
	return fault.Retryable(fmt.Errorf("everything is restored, but the Clusters are not available after %s: %w",
		o.timeout,
		err), fault.Timeout,
		"Run the same command again: it waits again and restores nothing twice.")
}

// mostUnmet is how many conditions an error lists.
const mostUnmet = 5

func named(unmet []selfmanaged.Unmet) string {
	var all []string
	for _, u := range unmet[:min(mostUnmet, len(unmet))] {
		all = append(all, u.String())
	}
	if left := len(unmet) - mostUnmet; left > 0 {
		all = append(all, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(all, "; ")
}

func waitingFor(seen restore.Adoption, err error) event.Event {
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
