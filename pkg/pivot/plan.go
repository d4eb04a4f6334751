package pivot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Plan is what a move would take, found without changing anything. A plan exists only if no rule refuses it.
type Plan struct {
	Scope   clusters.Scope
	Objects []capi.Object // sorted by kind, namespace and name; never empty
}

// newPlan reads both sides and checks them by the rules. If the move must not start, the error has the code
// fault.PivotRefused and lists all reasons, each a Refusal. If an API did not answer, it has the code
// fault.ClusterUnreachable.
func newPlan(ctx context.Context, source, target clusters.Side, scope clusters.Scope, rules []check) (Plan, error) {
	v, refusals, err := inspect(ctx, source, target, scope, rules)
	if err != nil {
		return Plan{}, err
	}
	return v.plan(refusals)
}

// plan returns the plan, or an error with the refusals.
func (v *view) plan(refusals []*Refusal) (Plan, error) {
	if len(refusals) > 0 {
		return Plan{}, refusedBy(v.scope, refusals)
	}
	return Plan{Scope: v.scope, Objects: v.moves}, nil
}

// allTransient and anyRefusal say which refusals planPatiently waits for.
func allTransient(refusals []*Refusal) bool {
	return !slices.ContainsFunc(refusals, func(r *Refusal) bool { return !r.Passes })
}

func anyRefusal([]*Refusal) bool { return true }

// planPatiently plans as newPlan does. While worthWaiting approves of the refusals it plans again, for input.Patience
// at most.
func (input Input) planPatiently(ctx context.Context, rules []check, worthWaiting func([]*Refusal) bool) (Plan, error) {
	const pause = 5 * time.Second // a plan sends some 300 requests
	deadline, reported := input.Now().Add(input.Patience), ""
	for {
		v, refusals, err := inspect(ctx, input.Source, input.Target, input.Scope, rules)
		if err != nil {
			return Plan{}, err
		}
		if len(refusals) == 0 || !worthWaiting(refusals) || !input.Now().Before(deadline) {
			return v.plan(refusals)
		}
		if what := refusals[0].Error(); what != reported {
			input.Waiting(what)
			reported = what
		}
		select {
		case <-ctx.Done():
			return Plan{}, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// CheckSides checks whether two clusters fit together for a move, as far as that is known before it. Callers use it
// before an irreversible step. Its error is that of a move that must not start.
func CheckSides(ctx context.Context, source, target clusters.Side, scope clusters.Scope) error {
	_, err := newPlan(ctx, source, target, scope, rulesOfSides)
	return err
}

// inspect checks both sides by all of the rules.
func inspect(ctx context.Context, source, target clusters.Side, scope clusters.Scope, rules []check) (*view, []*Refusal,
	error) {
	v, err := newView(ctx, source, target, scope)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	var all []*Refusal
	for _, check := range rules {
		refusals, err := check(ctx, v)
		if err != nil {
			return nil, nil, unreadable(err)
		}
		all = append(all, refusals...)
	}
	return v, all, nil
}

// refusedBy returns an error with all reasons why a move must not start.
func refusedBy(scope clusters.Scope, refusals []*Refusal) error {
	var reasons []error
	for _, r := range refusals {
		reasons = append(reasons, r)
	}
	return fault.Wrap(
		fmt.Errorf("the cluster definitions in namespace %s cannot be moved yet:\n%w", scope.Namespace,
			errors.Join(reasons...)),
		fault.PivotRefused,
		"Nothing was moved. Put right what is listed, or wait for it, and run the same command again. What to do "+
			"about each: cluster-init pivot plan.")
}

// unreadable returns the fault of a side that could not be read before anything was moved.
func unreadable(err error) error {
	err = fmt.Errorf("look at both sides of the move: %w", err)
	if apierrors.IsForbidden(err) {
		return fault.Wrap(err, fault.ClusterUnreachable, "Nothing was moved. Give the user of that kubeconfig this "+
			"permission, and run the same command again.")
	}
	return fault.Retryable(err, fault.ClusterUnreachable, "Nothing was moved. Check that both API servers answer, and "+
		"run the same command again.")
}
