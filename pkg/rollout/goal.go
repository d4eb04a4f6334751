package rollout

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Key names an object within one cluster.
type Key struct{ Kind, Namespace, Name string }

// String is for people.
func (k Key) String() string { return k.Kind + "/" + k.Name }

// sortedKeys puts the objects of messages into the same order in each run.
func sortedKeys[T any](objects map[Key]T) []Key {
	return slices.SortedFunc(maps.Keys(objects), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// Goal names the objects that a wait is for. An object that does not exist yet counts as not ready.
type Goal struct {
	What  string // for people: "the components of the bootstrap cluster"
	Ready []Key
	// Handled holds reconcile requests that an object must have handled before its state counts.
	Handled map[Key]string
	// Made, if set, returns further objects that must be ready, each with the reconcile request that it must have
	// handled, if any. It is called when the HelmRelease is ready, because only then do they exist, until it succeeds.
	Made func(context.Context) (map[Key]string, error)
	// Until, if set, must return true as well. It is called about once a second once all else is ready.
	Until func(context.Context) bool
	// Owns says which objects the wait is about: only they are reported, and only they can end it. Nil means all that
	// are in the release's namespace.
	Owns func(client.Object) bool
	// Release is the HelmRelease that the wait is for. Empty means the cluster's own.
	Release client.ObjectKey
	// Revision, if set, must be part of the revision that a Kustomization of the release's source has applied.
	Revision string
}

// require adds objects to the goal, each with the request that it must have handled before its state counts.
func (v *view) require(requests map[Key]string) {
	handled := map[Key]string{}
	maps.Copy(handled, v.goal.Handled)
	maps.Copy(handled, requests)
	v.goal.Handled = handled
	for _, k := range sortedKeys(requests) {
		v.goal.Ready = append(v.goal.Ready, k)
		if o, seen := v.states[k]; seen { // it may have been Ready before the request
			state := v.stateOf(k, v.objects[k])
			o.State, o.Reason, o.Message = state.Status, state.Reason, state.Message
			v.states[k] = o
		}
	}
}
