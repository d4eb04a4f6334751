package cleanup

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Claim takes the leases of what the plan deletes, looks at everything once more, and judges again, as another run may
// have begun since the plan was made. It returns what is there now. It fails as Observer.Alone does, with
// fault.CleanupRefused when what was permitted is so no more, and with the reason of ctx when a lease is lost
// meanwhile. c.Leases is required; they stay taken.
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
