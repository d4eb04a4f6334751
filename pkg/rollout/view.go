package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// view is the state that a Follower has observed.
type view struct {
	cluster string
	goal    Goal
	objects map[Key]*unstructured.Unstructured
	states  map[Key]event.Object
	nudged  map[Key]bool
	// listed are the resources whose initial list is complete.
	listed map[string]bool
	// remarked are the user's own objects that were reported as unhealthy.
	remarked map[Key]bool
	// elsewhere are failures in another cluster that this wait depends on.
	elsewhere []event.Object
	// progress is set when an object becomes ready; lookForCauses resets it.
	progress atomic.Bool
}

func newView(cluster string, g Goal) *view {
	return &view{cluster: cluster, goal: g, objects: map[Key]*unstructured.Unstructured{},
		states: map[Key]event.Object{}, nudged: map[Key]bool{}, listed: map[string]bool{}, remarked: map[Key]bool{}}
}

func (v *view) release() client.ObjectKey {
	if v.goal.Release.Name == "" {
		return ownRelease()
	}
	return v.goal.Release
}

// take records a change and reports whether a reader would want to see it.
func (v *view) take(c kube.Change) (bool, event.Object) {
	if c.Object == nil {
		v.listed[c.Listed.Resource] = true
		return false, event.Object{}
	}
	k := Key{c.Object.GetKind(), c.Object.GetNamespace(), c.Object.GetName()}
	state := v.stateOf(k, c.Object)
	shown := v.goal.Owns == nil || v.goal.Owns(c.Object)
	now := event.Object{Cluster: v.cluster, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name,
		State: state.Status, Reason: state.Reason, Message: state.Message}
	if c.Deleted {
		delete(v.objects, k)
		delete(v.states, k)
		now.State = "Deleted"
		return shown, now
	}
	v.objects[k] = c.Object
	for _, d := range dependencies(c.Object) {
		if v.states[d].State != health.Ready {
			now.WaitsFor = append(now.WaitsFor, d.Name)
		}
	}
	before := v.states[k]
	v.states[k] = now
	if now.State == health.Ready && before.State != health.Ready {
		v.progress.Store(true)
	}
	changed := before.State != now.State || before.Message != now.Message ||
		strings.Join(before.WaitsFor, ",") != strings.Join(now.WaitsFor, ",")
	return changed && shown, now
}

// stateOf returns the object's own state, unless that is older than what this wait is for, or a Cluster's machines
// contradict it.
func (v *view) stateOf(k Key, o *unstructured.Unstructured) health.State {
	state := health.Of(o)
	if state.Status != health.Ready && state.Status != health.Failed {
		return state
	}
	if token := v.goal.Handled[k]; token != "" {
		if handled, _, _ := unstructured.NestedString(o.Object, "status", "lastHandledReconcileAt"); handled != token {
			return health.State{Status: health.Progressing, Message: "has not handled the latest request yet"}
		}
	}
	if k.Kind == "Cluster" {
		return v.machinesOf(o, state)
	}
	source, _, _ := unstructured.NestedString(o.Object, "spec", "sourceRef", "name")
	if v.goal.Revision != "" && k.Kind == "Kustomization" && source == flux.ReleaseName {
		applied, _, _ := unstructured.NestedString(o.Object, "status", "lastAppliedRevision")
		if attempted, _, _ := unstructured.NestedString(o.Object, "status",
			"lastAttemptedRevision"); state.Status == health.Failed &&
			(attempted == "" || strings.Contains(attempted, v.goal.Revision)) {
			return state // it gave up before it could apply the revision
		}
		if !strings.Contains(applied, v.goal.Revision) {
			if applied == "" {
				return health.State{Status: health.Progressing, Reason: "Progressing",
					Message: "Reconciliation in progress"}
			}
			return health.State{Status: health.Progressing, Message: "has applied " + applied +
				", not yet the current revision"}
		}
	}
	return state
}

func dependencies(o *unstructured.Unstructured) []Key {
	var keys []Key
	for _, other := range health.DependsOn(o) {
		keys = append(keys, Key{other.Kind, other.Namespace, other.Name})
	}
	return keys
}

// unblocked returns, once for each, the objects that are not ready although their dependencies are.
func (v *view) unblocked() []*unstructured.Unstructured {
	var free []*unstructured.Unstructured
	for _, k := range sortedKeys(v.objects) {
		o := v.objects[k]
		needs := dependencies(o)
		if v.nudged[k] || len(needs) == 0 || v.states[k].State == health.Ready {
			continue
		}
		ready := true
		for _, d := range needs {
			ready = ready && v.states[d].State == health.Ready
		}
		if ready {
			v.nudged[k] = true
			free = append(free, o)
		}
	}
	return free
}

// waitingControlPlanes returns the control planes that are not ready and neither being deleted nor paused.
func (v *view) waitingControlPlanes() []*unstructured.Unstructured {
	var waiting []*unstructured.Unstructured
	for _, k := range sortedKeys(v.objects) {
		o := v.objects[k]
		if o.GroupVersionKind().Group == controlPlaneGroup && v.states[k].State != health.Ready &&
			o.GetDeletionTimestamp() == nil && !health.Paused(o) {
			waiting = append(waiting, o)
		}
	}
	return waiting
}

func (v *view) reached() bool {
	if v.goal.Made != nil {
		return false
	}
	for _, k := range v.goal.Ready {
		if v.states[k].State != health.Ready {
			return false
		}
	}
	return !slices.ContainsFunc(v.goal.Ready, v.lacksMachines)
}

// blocked returns the goals that are not ready with their states, after what they are stuck on. If all are ready it
// returns whatever else is not, except for Flux objects that are not of the release. Failures in another cluster come
// first, then components that Flux cannot apply: other objects may wait for their content without saying so.
func (v *view) blocked() []event.Object {
	var list []event.Object
	for _, k := range v.goal.Ready {
		s, seen := v.states[k]
		if !seen {
			s = event.Object{Cluster: v.cluster, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name, State: "Missing",
				Message: "does not exist yet"}
		}
		if s.State != health.Ready {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		for k, s := range v.states {
			if s.State != health.Ready && v.ofRelease(v.objects[k]) {
				list = append(list, s)
			}
		}
		sort.Slice(list, func(i, j int) bool { return list[i].ID() < list[j].ID() })
	}
	sort.SliceStable(list, func(i, j int) bool {
		if first, second := unapplied(list[i]), unapplied(list[j]); first != second {
			return first
		}
		return len(list[i].WaitsFor) < len(list[j].WaitsFor)
	})
	return append(slices.Clone(v.elsewhere), v.causesFirst(list)...)
}

// unrecoverable returns an error if a goal, or an object of the release that goals come from, is suspended or has given
// up. It also returns one if another component has given up: the wait depends on it.
func (v *view) unrecoverable() error {
	for _, k := range sortedKeys(v.states) {
		s := v.states[k]
		if !v.blocksGoal(k) && (s.State != health.Failed || !v.excluded(k)) {
			continue
		}
		switch s.State {
		case health.Suspended:
			return fault.New(fault.ComponentStuck, fmt.Sprintf("%s in the %s cluster is suspended", k, v.cluster),
				fmt.Sprintf("Resume it: kubectl -n %s patch %s %s --type merge -p '{\"spec\":{\"suspend\":false}}'",
					k.Namespace, strings.ToLower(k.Kind), k.Name))
		case health.Failed:
			return fault.New(fault.ComponentStuck,
				fmt.Sprintf("%s in the %s cluster has given up: %s: %s", k, v.cluster,
					s.Reason, s.Message),
				"Fix what the message says, then run the same command again.")
		}
	}
	return nil
}

// unfinished explains why the wait ended without success.
func (v *view) unfinished(cause error) error {
	var lines []string
	for _, s := range v.blocked() {
		line := fmt.Sprintf("%s/%s is %s", s.Kind, s.Name, s.State)
		if s.Cluster != v.cluster {
			line = fmt.Sprintf("%s/%s in the %s cluster is %s", s.Kind, s.Name, s.Cluster, s.State)
		}
		if len(s.WaitsFor) > 0 {
			line += ", waits for " + strings.Join(s.WaitsFor, ", ")
		} else if s.Message != "" {
			line += ": " + s.Message
		}
		lines = append(lines, line)
	}
	if errors.Is(cause, context.Canceled) && len(lines) == 0 {
		return fmt.Errorf("waiting for %s: %w", v.goal.What, cause)
	}
	err := fmt.Errorf("waiting for %s: %w; not ready: %s", v.goal.What, cause, strings.Join(lines, "; "))
	if errors.Is(cause, context.Canceled) { // nothing is known to be stuck
		return err
	}
	return fault.Retryable(err,
		fault.ComponentStuck, "Start with the first object named. To continue waiting, run the "+
			"same command again.")
}
