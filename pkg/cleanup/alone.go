package cleanup

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
)

// Alone fails with the code fault.Busy if a run with another state folder works on one of the target's clusters. The
// lock of the state folder excludes other runs with the same folder.
//
// With Leases, Alone acquires the lease of each cluster that answers, except of one that only a file's name calls the
// management cluster: it may be any cluster. It fails with fault.CleanupRefused if it cannot check or acquire a lease.
// With Forced, only the end of ctx is an error. Alone waits for a holder that shows no sign of life: half a minute, or
// with Leases until its lease has expired. With Leases and Forced it waits less.
func (o Observer) Alone(ctx context.Context, plan Plan) error {
	bootstrap, management := o.alone(ctx, plan)
	if ctx.Err() != nil {
		return fmt.Errorf("check whether another run works on %s: %w", o.Target.Cluster, context.Cause(ctx))
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

// alone returns for both clusters why this run is not known to be the only one. It ignores a cluster that does not
// answer: Ask refuses that if necessary.
func (o Observer) alone(ctx context.Context, plan Plan) (bootstrap, management error) {
	reaching, cancel := context.WithTimeout(ctx, cmp.Or(o.Bound, checkTimeout))
	defer cancel()
	names := o.names()
	var checks sync.WaitGroup
	checks.Go(func() {
		for i, c := range names.ConnectManagement(reaching, plan.hasBalancer(o.Target)) {
			where := clusters.LeasedIn(c.Name)
			if i > 0 { // it distinguishes leases
				where += " at " + c.Config.Host
			}
			switch err := o.exclude(ctx, c, where); {
			case err != nil && management != nil:
				management = fmt.Errorf("%w; %w", management, err)
			case err != nil:
				management = err
			}
		}
	})
	if plan.hasBootstrap() {
		found := names.ConnectBootstrap(reaching)
		if found.Cluster != nil {
			bootstrap = o.exclude(ctx, found.Cluster, clusters.LeasedIn(found.Cluster.Name))
		} else if side := bootstrapOf(found, o.Target); side.state == bootstrapBusy {
			bootstrap = side.err
		}
	}
	checks.Wait()
	return bootstrap, management
}

// exclude acquires the lease in a cluster, which messages call where. Without Leases it checks whether another run
// holds it.
func (o Observer) exclude(ctx context.Context, c *kube.Cluster, where string) error {
	r := lease.Request{Config: c.Config, Where: where,
		Name: lease.Name(o.Target.Namespace, o.Target.Cluster), Timing: cmp.Or(o.Timing, lease.DefaultTiming()),
		Waiting: o.Waiting, Forced: o.Forced}
	id, err := lease.ID(o.StateFolder)
	if id == "" { // do not create one: cleanup would leave a state folder behind
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

// notAlone returns the observation with the reasons why this run is not known to be the only one.
func (o observation) notAlone(bootstrap, management error) observation {
	isBusy := func(err error) bool { return fault.CodeOf(err) == fault.Busy }
	if isBusy(bootstrap) {
		o.bootstrap.state, o.bootstrap.err = bootstrapBusy, bootstrap
	}
	if isBusy(management) && o.management.state != managementManaging {
		o.management.state, o.management.err = managementBusy, management
	}
	for _, err := range []error{bootstrap, management} {
		if err != nil && !isBusy(err) {
			o.leaseErr = errors.Join(o.leaseErr, err)
		}
	}
	return o
}
