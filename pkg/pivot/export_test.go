package pivot

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// NewPlan is what a move begins with: every rule is asked.
func NewPlan(ctx context.Context, source, target clusters.Side, scope clusters.Scope) (Plan, error) {
	return newPlan(ctx, source, target, scope, rules)
}

// Refusals returns every reason for which NewPlan refused; nil if err is of another kind. Only tests check them one by
// one.
func Refusals(err error) []*Refusal {
	var all []*Refusal
	switch e := err.(type) { //nolint:errorlint // it walks the tree, one error at a time
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

// GuardNames are the names of the rules of a move.
func (in Input) GuardNames(again bool) []string {
	var names []string
	for _, guard := range in.guards(again, nil) {
		name := runtime.FuncForPC(reflect.ValueOf(guard).Pointer()).Name()
		names = append(names, name[strings.LastIndex(name, "/pivot.")+len("/pivot."):])
	}
	return names
}
