package pivot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Plan is what a move would take along, found without changing anything. A plan exists only if no rule refuses it.
type Plan struct {
	Scope     Scope
	Objects   []capi.Object   // sorted by kind, namespace and name; never empty
	Providers []capi.Provider // of the source; the target has the same versions
}

// Rule names one condition that must hold before a move.
type Rule string

// The rules of a move.
const (
	RuleCluster   Rule = "cluster"   // the management cluster's Cluster exists, is provisioned and not being deleted
	RuleObjects   Rule = "objects"   // there is something to move, and all that belongs to it or that it needs would move
	RuleLabels    Rule = "labels"    // clusterctl sees the CRDs, on both sides
	RuleProviders Rule = "providers" // the same versions run, and are ready, on both sides
	RulePaused    Rule = "paused"    // nothing at the source is paused
	RuleMachines  Rule = "machines"  // every Machine is ready and has its node
	RuleTarget    Rule = "target"    // the target holds none of it yet
)

// Refusal is one reason why a move must not start.
type Refusal struct {
	Rule   Rule
	Object string // what it is about, "" for the whole
	Reason string
}

// Error returns the reason with the object that it is about.
func (r *Refusal) Error() string {
	if r.Object == "" {
		return r.Reason
	}
	return r.Object + ": " + r.Reason
}

// rulesAgain are the guards of a move that is repeated: it overwrites what the interrupted one created on the target. Each reports its
// refusals; an error means that it could not look.
var rulesAgain = []check{checkCluster, checkObjects, checkLabels, checkProviders, checkPaused, checkMachines}

// rules are all guards.
var rules = slices.Concat(rulesAgain, []check{checkTarget})

// NewPlan reads both sides and holds them against every rule. A move that must not start gives an error with the
// code fault.PivotRefused which lists all reasons, each a Refusal; one that could not be judged, because an API
// did not answer, gives fault.ClusterUnreachable.
func NewPlan(ctx context.Context, source, target Side, scope Scope) (Plan, error) {
	return newPlan(ctx, source, target, scope, rules)
}

type check func(context.Context, *view) ([]*Refusal, error)

func newPlan(ctx context.Context, source, target Side, scope Scope, rules []check) (Plan, error) {
	v, err := newView(ctx, source, target, scope)
	if err != nil {
		return Plan{}, unreadable(err)
	}
	var reasons []error
	for _, check := range rules {
		refusals, err := check(ctx, v)
		if err != nil {
			return Plan{}, unreadable(err)
		}
		for _, r := range refusals {
			reasons = append(reasons, r)
		}
	}
	if len(reasons) > 0 {
		return Plan{}, fault.Wrap(
			fmt.Errorf("the cluster definitions in namespace %s cannot be moved yet:\n%w", scope.Namespace, errors.Join(reasons...)),
			fault.PivotRefused,
			"Nothing was moved. Put right what is listed, or wait for it, and run the same command again.")
	}
	return Plan{Scope: scope, Objects: v.moves, Providers: v.sourceProviders}, nil
}

// unreadable is the fault of a side that could not be read before anything was moved.
func unreadable(err error) error {
	return fault.Retryable(fmt.Errorf("look at both sides of the move: %w", err), fault.ClusterUnreachable,
		"Nothing was moved. Check that both API servers answer, and run the same command again.")
}

// view is what the rules look at, read once.
type view struct {
	scope            Scope
	sourceSide       Side
	source, target   *capi.Graph
	moves            []capi.Object
	clusters         []capi.Cluster
	machines         []capi.Machine
	sourceProviders  []capi.Provider
	targetProviders  []capi.Provider
	targetUnlabelled []capi.CRD
}

func newView(ctx context.Context, source, target Side, scope Scope) (*view, error) {
	v := &view{scope: scope, sourceSide: source}
	for _, read := range []func() error{
		func() (err error) { v.source, err = capi.Discover(ctx, source.Client, scope.Namespace); return },
		func() (err error) { v.clusters, err = capi.Clusters(ctx, source.Client, scope.Namespace); return },
		func() (err error) { v.machines, err = capi.Machines(ctx, source.Client, scope.Namespace); return },
		func() (err error) { v.sourceProviders, err = capi.Providers(ctx, source.Client); return },
	} {
		if err := read(); err != nil {
			return nil, fmt.Errorf("source: %w", err)
		}
	}
	for _, read := range []func() error{
		func() (err error) { v.target, err = capi.Discover(ctx, target.Client, scope.Namespace); return },
		func() (err error) { v.targetProviders, err = capi.Providers(ctx, target.Client); return },
		func() (err error) { v.targetUnlabelled, err = capi.UnlabelledCRDs(ctx, target.Client); return },
	} {
		if err := read(); err != nil {
			return nil, fmt.Errorf("target: %w", err)
		}
	}
	v.moves = v.source.Moves()
	return v, nil
}
