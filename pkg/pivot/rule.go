package pivot

import (
	"context"
	"slices"
)

// Rule names one condition that must hold before a move.
type Rule string

// The rules of a move.
const (
	// the management cluster's Cluster exists, is provisioned and not being deleted
	RuleCluster Rule = "cluster"
	// there is something to move, and all that belongs to it or that it needs would move
	RuleObjects     Rule = "objects"
	RuleElsewhere   Rule = "elsewhere"   // nothing in another namespace needs what would leave
	RuleDetach      Rule = "detach"      // deleting an object at the source deletes nothing in the cloud
	RuleLabels      Rule = "labels"      // clusterctl sees the CRDs, on both sides, in versions that both serve
	RuleProviders   Rule = "providers"   // the same versions run, and are ready, on both sides
	RulePaused      Rule = "paused"      // nothing at the source is paused
	RuleMachines    Rule = "machines"    // every Machine is ready and has its node
	RulePermissions Rule = "permissions" // the users of both kubeconfigs may do what a move does
	RuleWebhooks    Rule = "webhooks"    // the target accepts an object of each kind that moves
	RuleHealth      Rule = "health"      // the target acts on what it is given
	RuleExtensions  Rule = "extensions"  // the target has the extensions that ClusterClasses name
	RuleTarget      Rule = "target"      // the target holds none of it yet
)

// Refusal is one reason why a move must not start.
type Refusal struct {
	Rule   Rule
	Object string // what it is about, "" for the whole
	Reason string
	Remedy string // what a person does about it
}

// Error returns the reason with the object that it is about.
func (r *Refusal) Error() string {
	if r.Object == "" {
		return r.Reason
	}
	return r.Object + ": " + r.Reason
}

// check reports the refusals of a rule; an error means that it could not look.
type check func(context.Context, *view) ([]*Refusal, error)

// rulesAgain are the guards of a move that is repeated, with checkCopies: it overwrites what the interrupted one
// created on the target, and nothing else. Permissions come before webhooks, which are not asked for what may not be
// created.
var rulesAgain = []check{
	checkCluster, checkObjects, checkElsewhere, checkDetach, checkLabels, checkProviders, checkReady, checkPaused,
	checkMachines, checkPermissions, checkWebhooks, checkHealth,
	checkExtensions,
}

// rules are all guards.
var rules = slices.Concat(rulesAgain, []check{checkTarget})

// rulesBackAgain are those of a move away from a cluster that is not well: it is moved because of that. What clusterctl
// itself asks of a source, as the node of each Machine, clusterctl asks.
var rulesBackAgain = []check{
	checkCluster, checkObjects, checkElsewhere, checkDetach, checkLabels, checkProviders, checkPaused, checkPermissions,
	checkWebhooks, checkHealth,
	checkExtensions,
}

var rulesBack = slices.Concat(rulesBackAgain, []check{checkTarget})

// rulesOfSides are those about the two clusters themselves. They do not go away by waiting, or with what is deleted at
// the source.
var rulesOfSides = []check{checkLabels, checkProviders, checkPermissions, checkWebhooks, checkHealth}

// guards are the rules of this move. again is whether an earlier one may have created something on the target; saved is
// its record, or nil.
func (in Input) guards(again bool, saved *record) []check {
	switch {
	case in.Back && again:
		return slices.Concat(rulesBackAgain, []check{checkCopies(saved)})
	case in.Back:
		return rulesBack
	case again:
		return slices.Concat(rulesAgain, []check{checkCopies(saved)})
	}
	return rules
}
