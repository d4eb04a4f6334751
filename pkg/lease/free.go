package lease

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// patience is how many renewals a living holder may miss, on a busy machine, before its lease counts as free.
const patience = 6

// CheckFree fails with the code fault.Busy if another holder than r.Holder renews a lease. It does not take the lease.
// A lease that was not renewed for patience times Timing.Retry, was given back, or does not exist is free.
func CheckFree(ctx context.Context, r Request) error {
	lock, err := r.lock()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience*r.Timing.Retry)
	defer cancel()
	var first *resourcelock.LeaderElectionRecord
	for end := time.Now().Add(patience * r.Timing.Retry); ; {
		record, _, err := lock.Get(ctx)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("read the Lease %s in %s: %w", lock.Describe(), r.Where, err)
		case record.HolderIdentity == "" || record.HolderIdentity == r.Holder:
			return nil
		case first != nil && *record != *first:
			return r.busy(record)
		case time.Now().After(end):
			return nil
		}
		if first == nil {
			r.wait(record, patience*r.Timing.Retry)
		}
		first = record
		select {
		case <-ctx.Done():
			return fmt.Errorf("read the Lease %s in %s: %w", lock.Describe(), r.Where, ctx.Err())
		case <-time.After(r.Timing.Retry / 2):
		}
	}
}
