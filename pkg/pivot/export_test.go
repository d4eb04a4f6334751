package pivot

import (
	"context"
	"errors"
)

// NewPlan is what a move begins with: every rule is asked.
func NewPlan(ctx context.Context, source, target Side, scope Scope) (Plan, error) {
	return newPlan(ctx, source, target, scope, rules)
}

// Refusals returns every reason for which NewPlan refused, nil when err is of another kind. Only tests look at them one by one.
func Refusals(err error) []*Refusal {
	var all []*Refusal
	switch e := err.(type) {
	case nil:
	case *Refusal:
		all = append(all, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, Refusals(one)...)
		}
	default:
		return Refusals(errors.Unwrap(err))
	}
	return all
}

// LookAtControllers is a part of SelfManaged, for tests with an API server that has no Flux.
var LookAtControllers = lookAtControllers
