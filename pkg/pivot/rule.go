package pivot

import (
	"context"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// Rule names one condition that must hold before a move.
type Rule string

// The rules of a move.
const (
	// every Cluster of the namespace is provisioned, and none is being deleted
	RuleCluster Rule = "cluster"
	// there is something to move, and everything that belongs to it or that it needs would move
	RuleObjects     Rule = "objects"
	RuleElsewhere   Rule = "elsewhere"   // nothing in another namespace needs what would leave
	RuleDetach      Rule = "detach"      // deleting an object at the source deletes nothing in the cloud
	RuleLabels      Rule = "labels"      // clusterctl sees the CRDs, on both sides, in versions that both serve
	RuleProviders   Rule = "providers"   // the same versions run, and are ready, on both sides
	RulePaused      Rule = "paused"      // nothing at the source is paused
	RuleMachines    Rule = "machines"    // every Machine is ready and has its node
	RulePermissions Rule = "permissions" // the users of both kubeconfigs may do what a move does
	RuleWebhooks    Rule = "webhooks"    // the target accepts an object of each kind that moves
	RuleHealth      Rule = "health"      // the target acts on its objects
	RuleExtensions  Rule = "extensions"  // the target has the extensions that ClusterClasses name
	RuleTarget      Rule = "target"      // the target holds none of it yet
)

// Refusal is one reason why a move must not start.
type Refusal struct {
	Rule   Rule
	Object string // the refused object; "" for the whole move
	Reason string
	Remedy string // what a person does to remove the reason
	// Passes reports whether time alone may remove the reason.
	Passes bool
}

// Error returns the reason with its object.
func (r *Refusal) Error() string {
	if r.Object == "" {
		return r.Reason
	}
	return r.Object + ": " + r.Reason
}

// check returns the refusals of a rule. An error means that it could not check.
type check func(context.Context, *view) ([]*Refusal, error)

// rulesOnRetry are the guards of a repeated move. checkCopies is added to them: a repeated move overwrites only what
// the interrupted one created on the target. Permissions are checked before webhooks: checkWebhooks skips the kinds
// that checkPermissions refuses.
var rulesOnRetry = []check{
	checkCluster, checkObjects, checkElsewhere, checkDetach, checkLabels, checkProviders, checkReady, checkPaused,
	checkMachines, checkPermissions, checkWebhooks, checkHealth,
	checkExtensions,
}

// rules are the guards of a first move.
var rules = slices.Concat(rulesOnRetry, []check{checkTarget})

// rulesBackOnRetry are the guards of a repeated move away from a cluster that may be unhealthy. clusterctl itself
// checks what it needs of a source, such as the node of each Machine.
var rulesBackOnRetry = []check{
	checkCluster, checkObjects, checkElsewhere, checkDetach, checkLabels, checkProviders, checkPaused, checkPermissions,
	checkWebhooks, checkHealth,
	checkExtensions,
}

var rulesBack = slices.Concat(rulesBackOnRetry, []check{checkTarget})

// rulesOfSides are the rules about the two clusters themselves. They need no objects at the source.
var rulesOfSides = []check{checkLabels, checkProviders, checkPermissions, checkWebhooks, checkHealth}

// guards returns the rules of this move. isRetry reports whether an earlier move may have created something on
// the target; saved is its record, or nil.
func (input Input) guards(isRetry bool, saved *record.Record) []check {
	switch {
	case input.Back && isRetry:
		return slices.Concat(rulesBackOnRetry, []check{checkCopies(saved)})
	case input.Back:
		return rulesBack
	case isRetry:
		return slices.Concat(rulesOnRetry, []check{checkCopies(saved)})
	}
	return rules
}
