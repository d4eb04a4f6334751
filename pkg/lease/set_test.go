package lease_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
)

// Detached work continues after an interrupt, and while a lease cannot be renewed, but not when another holder has it.
func TestUntilTakenOver(t *testing.T) {
	busy, silent := fault.New(fault.Busy, "bob has it", ""), fault.New(fault.ClusterUnreachable, "no answer", "")
	for name, tc := range map[string]struct {
		interrupted bool
		lost        []error
		want        error
	}{
		"interrupted":                      {interrupted: true},
		"not renewed":                      {lost: []error{silent}},
		"taken over":                       {lost: []error{busy}, want: busy},
		"interrupted, and then taken over": {interrupted: true, lost: []error{busy}, want: busy},
		"not renewed, and then taken over": {lost: []error{silent, busy}, want: busy},
		"nothing happens":                  {},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			ctx, leases := lease.NewSet(ctx)
			defer leases.ReleaseAll()
			lasting := lease.DetachUntilLost(ctx)
			if tc.interrupted {
				interrupt()
			}
			for _, why := range tc.lost {
				leases.Lose(why)
			}
			for _, c := range []context.Context{lasting, lease.DetachUntilLost(lasting),
				lease.DetachUntilLost(context.WithoutCancel(ctx))} {
				if got := context.Cause(c); !errors.Is(got, tc.want) || (got == nil) != (tc.want == nil) {
					t.Errorf("it ends with %v, want %v", got, tc.want)
				}
			}
			if ended := ctx.Err() != nil; ended != (tc.interrupted || len(tc.lost) > 0) {
				t.Errorf("the run's own context has ended: %t", ended)
			}
		})
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := lease.DetachUntilLost(ctx).Err(); err != nil {
		t.Errorf("without a set it has ended: %v", err)
	}
}
