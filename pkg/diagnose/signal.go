package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Signal is one thing that an object, or somebody about it, says of why it is not ready.
type Signal struct {
	// From is where it stands: "condition TYPE", "waiting" and "terminated" of a container, "event", "suspended",
	// "paused", "missing", "deleting", "phase", "taint", "error", "log", "stopped", "fault", "cloud", "console",
	// "journal".
	From    string `json:"signal"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Past is whether it was said of what may be over: reported once, of an older spec, or of an object that goes.
	Past bool `json:"past,omitempty"`
	// At is when it was said, where that is known.
	At time.Time `json:"at,omitzero"`
}

// signals are those of an object, what it says now before what was reported of it.
func (s *Snapshot) signals(r health.Ref) []Signal {
	u := s.objects[r]
	if u == nil {
		return []Signal{{From: "missing", Message: r.String() + " does not exist"}}
	}
	list := marks(u)
	list = append(list, failing(u)...)
	if retried(u) && len(s.events[r]) > 0 {
		last := s.events[r][0]
		list = append(list, Signal{From: "condition Ready", Reason: last.Reason, Message: last.Message, Past: true})
	}
	switch {
	case r.Kind == "Pod":
		list = append(list, ofPod(u)...)
	case r.Kind == "Node":
		list = append(list, ofNode(u)...)
	}
	for _, line := range s.logs[r] {
		list = append(list, Signal{From: "log", Message: line})
	}
	list = slices.Concat(list, s.said[r], s.events[r])
	for i := range list {
		list[i].Past = list[i].Past || u.GetDeletionTimestamp() != nil || slices.Contains(reports(), list[i].From)
	}
	return list
}

// reports are where it stands what was said once: an event is kept for an hour, and what a container or a machine wrote
// for longer.
func reports() []string { return []string{"event", "terminated", "journal", "console"} }

// marks are what somebody has set an object to.
func marks(u *unstructured.Unstructured) []Signal {
	var list []Signal
	if u.GetDeletionTimestamp() != nil {
		list = append(list, Signal{From: "deleting", Message: "waits for its finalizers: " +
			strings.Join(u.GetFinalizers(), ", ")})
	}
	if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); suspended {
		list = append(list, Signal{From: "suspended", Reason: byPivot(u, owned.SuspendedAnnotation),
			Message: "spec.suspend is true"})
	}
	if strings.HasSuffix(u.GroupVersionKind().Group, "cluster.x-k8s.io") && health.Paused(u) {
		list = append(list, Signal{From: "paused", Reason: byPivot(u, owned.PivotAnnotation), Message: "is paused"})
	}
	if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase != "" {
		message, _, _ := unstructured.NestedString(u.Object, "status", "failureMessage")
		reason, _, _ := unstructured.NestedString(u.Object, "status", "reason")
		if message == "" {
			message, _, _ = unstructured.NestedString(u.Object, "status", "message")
		}
		list = append(list, Signal{From: "phase", Reason: strings.TrimSpace(phase + " " + reason), Message: message})
	}
	return list
}

// byPivot is "pivot" where a pivot has set an object so, and says it by an annotation, and "" where a person has.
func byPivot(u *unstructured.Unstructured, annotation string) string {
	if u.GetAnnotations()[annotation] == "" {
		return ""
	}
	return "pivot"
}

// bad are conditions that are bad news when they are true.
var bad = []string{"Stalled", "Failed", "DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable",
	"ReplicaFailure", "Denied", "InvalidRequest",
	"FetchFailed", "StorageOperationFailed", "BuildFailed"}

// failing are the conditions that are not as they should be.
func failing(u *unstructured.Unstructured) []Signal {
	var list []Signal
	for _, c := range health.Conditions(u) {
		wrongWhen := "False"
		if slices.Contains(bad, c.Type) {
			wrongWhen = "True"
		}
		if string(c.Status) == wrongWhen || c.Status == "Unknown" {
			list = append(list, Signal{From: "condition " + c.Type, Reason: c.Reason, Message: c.Message,
				Past: !c.Current || startsAnyhow(u)})
		}
	}
	return list
}

// startsAnyhow is whether OpenStack has a server that starts, or runs, whatever its conditions say: Cluster API's
// provider leaves there why it was refused before.
func startsAnyhow(u *unstructured.Unstructured) bool {
	state, _, _ := unstructured.NestedString(u.Object, "status", "instanceState")
	return state == "BUILD" || state == "ACTIVE"
}

// retried is whether Flux tries again what failed. Until that has an end, its condition says only that it does, and its
// last event why it failed. An event from before it last went well says nothing any more.
func retried(u *unstructured.Unstructured) bool {
	if !strings.HasSuffix(u.GroupVersionKind().Group, ".toolkit.fluxcd.io") ||
		health.ConditionOf(u, fluxmeta.ReadyCondition).Reason != fluxmeta.ProgressingReason {
		return false
	}
	if health.ConditionOf(u, "Healthy").Reason == fluxmeta.ProgressingReason { // it is applied, and waits
		return false
	}
	// set when it went well, or was given up
	wentWell, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	history, _, _ := unstructured.NestedSlice(u.Object, "status", "history")
	failed := false
	if len(history) > 0 {
		last, _ := history[0].(map[string]any)
		status, _ := last["lastReconciledStatus"].(string)
		failed = status != "" && status != fluxmeta.ReconciliationSucceededReason
	}
	return failed || wentWell < u.GetGeneration()
}

func ofPod(u *unstructured.Unstructured) []Signal {
	var list []Signal
	for _, field := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		statuses, _, _ := unstructured.NestedSlice(u.Object, "status", field)
		for _, each := range statuses {
			container, _ := each.(map[string]any)
			list = append(list, ofContainer(container)...)
		}
	}
	return list
}

// ofContainer tells of a container that waits, and of its last end when it was no good one.
func ofContainer(container map[string]any) []Signal {
	name, _, _ := unstructured.NestedString(container, "name")
	var list []Signal
	for _, path := range [][]string{{"state", "terminated"}, {"lastState", "terminated"}} {
		end, found, _ := unstructured.NestedMap(container, path...)
		code, _ := end["exitCode"].(int64)
		if !found || code == 0 {
			continue
		}
		reason, _ := end["reason"].(string)
		message, _ := end["message"].(string)
		list = append(list, Signal{From: "terminated", Reason: reason,
			Message: fmt.Sprintf("container %s ended with exit code %d: %s", name, code, strings.TrimSpace(message))})
	}
	if waiting, found, _ := unstructured.NestedMap(container, "state", "waiting"); found {
		reason, _ := waiting["reason"].(string)
		message, _ := waiting["message"].(string)
		list = append(list, Signal{From: "waiting", Reason: reason, Message: "container " + name + ": " + message})
	}
	return list
}

func ofNode(u *unstructured.Unstructured) []Signal {
	var list []Signal
	taints, _, _ := unstructured.NestedSlice(u.Object, "spec", "taints")
	for _, each := range taints {
		taint, _ := each.(map[string]any)
		key, _ := taint["key"].(string)
		effect, _ := taint["effect"].(string)
		list = append(list, Signal{From: "taint", Reason: key, Message: key + ":" + effect})
	}
	return list
}
