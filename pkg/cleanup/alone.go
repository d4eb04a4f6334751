package cleanup

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
)

// The clusters of a target, as connections call them.
const (
	bootstrapName  = "bootstrap"
	managementName = "management"
)

// where is what leases call a cluster; `up` calls it so too.
func where(cluster string) string { return "the " + cluster + " cluster" }

// Alone fails with the code fault.Busy when a run with another state folder works on one of the target's clusters; one
// with this folder has its lock. With Leases, they have the lease of each cluster that answers when it returns nil: a
// cluster whose lease cannot be taken fails with fault.CleanupRefused. With Forced, nothing but the end of ctx is an
// error. A holder that gives no sign of life is waited for: for half a minute, and with Leases until its lease has
// expired.
func (o Observer) Alone(ctx context.Context, plan Plan) error {
	bootstrap, management := o.alone(ctx, plan)
	if ctx.Err() != nil {
		return fmt.Errorf("ask whether another run is at work on %s: %w", o.Target.Cluster, context.Cause(ctx))
	}
	for _, err := range []error{bootstrap, management} {
		switch {
		case err == nil:
		case o.Forced != nil:
			o.Forced(err)
		case fault.CodeOf(err) == fault.Busy:
			return refuseBusy(err, o.Target).Err()
		default:
			return refuseUnleased(err, o.Target).Err()
		}
	}
	return nil
}

// alone returns for both clusters why this run is not known to be the only one that works on it. A cluster that does
// not answer is none of its concerns: Ask refuses what it has to.
func (o Observer) alone(ctx context.Context, plan Plan) (bootstrap, management error) {
	reaching, cancel := context.WithTimeout(ctx, cmp.Or(o.Bound, askBound))
	defer cancel()
	machines, _ := plan.machines() // which of them there are matters to Ask
	var beside sync.WaitGroup
	beside.Go(func() {
		if c := o.reachProven(reaching, machines); c != nil {
			management = o.exclude(ctx, c)
		}
	})
	side, c := o.reachBootstrap(reaching, plan)
	switch {
	case c != nil:
		bootstrap = o.exclude(ctx, c)
	case side.state == bootstrapBusy:
		bootstrap = side.err
	}
	beside.Wait()
	return bootstrap, management
}

// reachProven connects to the management cluster by a kubeconfig that is the target's for sure; nil when there is none,
// or nobody answers.
func (o Observer) reachProven(ctx context.Context, machines []string) *kube.Cluster {
	for _, w := range slices.Backward(o.witnesses()) { // that of `up` first
		if !w.proven || w.side.state != "" {
			continue
		}
		if c, err := o.reach(ctx, w.kubeconfig, machines); err == nil {
			return c
		}
	}
	return nil
}

// exclude takes the lease in a cluster, or looks whether somebody else has it.
func (o Observer) exclude(ctx context.Context, c *kube.Cluster) error {
	r := lease.Request{Config: c.Config, Where: where(c.Name), Name: lease.Name(o.Target.Namespace, o.Target.Cluster),
		Timing: cmp.Or(o.Timing, lease.DefaultTiming()), Waiting: o.Waiting, Forced: o.Forced}
	id, err := lease.ID(o.StateFolder)
	if id == "" { // none is made for it: cleanup would leave a state folder behind
		id = rand.Text()[:16]
	}
	if err == nil {
		r.Holder, err = lease.Holder(id)
	}
	switch {
	case err != nil:
		return err
	case o.Leases == nil:
		return lease.CheckFree(ctx, r)
	}
	_, err = o.Leases.Take(ctx, r)
	return err
}

// notAlone adds to what was seen that this run is not known to be the only one.
func (seen *observation) notAlone(bootstrap, management error) {
	isBusy := func(err error) bool { return fault.CodeOf(err) == fault.Busy }
	if isBusy(bootstrap) {
		seen.bootstrap.state, seen.bootstrap.err = bootstrapBusy, bootstrap
	}
	if isBusy(management) && seen.management.state != managementManaging {
		seen.management.state, seen.management.err = managementBusy, management
	}
	for _, err := range []error{bootstrap, management} {
		if err != nil && !isBusy(err) {
			seen.unleased = errors.Join(seen.unleased, err)
		}
	}
}

func refuseBusy(err error, t Target) Permission {
	return Permission{Refused: err.Error(), Busy: true, Hint: "Wait for its end, and run the same command again." +
		t.forceHint()}
}

func refuseUnleased(err error, t Target) Permission {
	hint := fault.HintOf(err)
	if hint == "" {
		hint = "Run the same command again when the cluster answers."
	}
	return Permission{Refused: fmt.Sprintf("it is not known whether another run is at work: %v", err),
		Hint: hint + t.forceHint()}
}
