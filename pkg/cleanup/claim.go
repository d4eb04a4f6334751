package cleanup

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Claim acquires the leases of what the plan deletes, and plans and decides again: another run may have begun since the
// plan was made. With c.Forced it does not decide again. It returns the new plan.
//
// Claim fails as Observer.Alone does, and as Permission.Err does if the deletion is no longer permitted. If a lease is
// lost meanwhile, it fails with the cause of ctx. c.Leases is required; the leases stay acquired.
func (c Cleaner) Claim(ctx context.Context, o Observer, plan Plan) (Plan, error) {
	o.Leases = c.Leases
	plan, err := c.claim(ctx, o, plan)
	if cause := context.Cause(ctx); err != nil && cause != nil && fault.CodeOf(cause) != fault.Unknown {
		return plan, cause
	}
	return plan, err
}

func (c Cleaner) claim(ctx context.Context, o Observer, plan Plan) (Plan, error) {
	if err := o.Alone(ctx, plan); err != nil {
		return plan, err
	}
	plan, err := c.Plan(ctx)
	if err != nil || plan.Empty() || c.Forced {
		return plan, err
	}
	permission, err := o.Ask(ctx, plan)
	if err != nil {
		return plan, err
	}
	return plan, permission.Err()
}
