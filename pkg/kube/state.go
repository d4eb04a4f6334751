package kube

import (
	"regexp"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func isNoMatch(err error) bool { return meta.IsNoMatchError(err) }

// The states of an object, from its conditions.
const (
	StateReady       = "Ready"
	StateProgressing = "Progressing"
	StateFailed      = "Failed"
	StateSuspended   = "Suspended"
	StateDeleting    = "Deleting"
)

// State is what an object says of itself.
type State struct {
	State, Reason, Message string
}

// StateOf reads the state of an object that follows the conventions of Flux and Cluster API: conditions with
// observedGeneration, of which Ready counts, or else Available; spec.suspend; metadata.deletionTimestamp.
// Flux marks failures that will not go away by themselves with the condition Stalled.
func StateOf(u *unstructured.Unstructured) State {
	if u.GetDeletionTimestamp() != nil {
		return State{State: StateDeleting, Message: "is being deleted"}
	}
	if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); suspended {
		return State{State: StateSuspended, Message: "is suspended"}
	}
	// One that is older than the spec tells of what somebody may have mended since.
	if stalled, ok := condition(u, "Stalled"); ok && stalled["status"] == "True" && current(u, stalled) {
		return State{State: StateFailed, Reason: text(stalled, "reason"), Message: text(stalled, "message")}
	}
	for _, kind := range []string{"Ready", "Available"} {
		c, ok := condition(u, kind)
		if !ok {
			continue
		}
		s := State{Reason: text(c, "reason"), Message: text(c, "message"), State: StateProgressing}
		if c["status"] == "True" && current(u, c) {
			s.State = StateReady
		} else if counted.MatchString(s.Message) {
			s.Message = summarized(u, kind, s)
		}
		return s
	}
	return State{State: StateProgressing, Message: "has no status yet"}
}

// Paused says whether a Cluster API object is paused, by its spec or its annotation.
func Paused(u *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused")
	_, annotated := u.GetAnnotations()["cluster.x-k8s.io/paused"]
	return paused || annotated
}

// counted matches the message of a Ready condition in Cluster API's older convention, which sums up other conditions: it
// has the reason of the one that failed, but not its message.
var counted = regexp.MustCompile(`^[0-9]+ of [0-9]+ completed$`)

// summarized returns the type and the message of the condition that a sum is about, or else the sum's own message.
func summarized(u *unstructured.Unstructured, kind string, sum State) string {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		m, ok := c.(map[string]any)
		if ok && m["type"] != kind && m["status"] != "True" && text(m, "reason") == sum.Reason && text(m, "message") != "" {
			return text(m, "type") + ": " + text(m, "message")
		}
	}
	return sum.Message
}

func condition(u *unstructured.Unstructured, kind string) (map[string]any, bool) {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			return m, true
		}
	}
	return nil, false
}

// current says whether the condition was made for the object's present generation.
func current(u *unstructured.Unstructured, c map[string]any) bool {
	observed, found := c["observedGeneration"].(int64)
	if !found {
		observed, found, _ = unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	}
	return !found || observed >= u.GetGeneration()
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
