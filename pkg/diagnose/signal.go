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

// Signal is one statement about why an object is not ready, from the object itself or from elsewhere.
type Signal struct {
	// Signal is where the statement comes from: "condition TYPE", "waiting" and "terminated" of a container, "event",
	// "suspended", "paused", "missing", "deleting", "phase", "taint", "error", "log", "stopped", "fault", "cloud",
	// "console", "journal".
	Signal  string `json:"signal"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Past reports that it may be over: it was reported once, is about an older spec, or about a deleted object.
	Past bool `json:"past,omitempty"`
	// At is the time of the statement, if known.
	At time.Time `json:"at,omitzero"`
}

// signals returns the signals of an object, current ones before past reports.
func (s *Snapshot) signals(r health.Ref) []Signal {
	u := s.objects[r]
	if u == nil {
		return []Signal{{Signal: "missing", Message: r.String() + " does not exist"}}
	}
	list := marks(u)
	list = append(list, failing(u)...)
	if retried(u) && len(s.events[r]) > 0 {
		last := s.events[r][0]
		list = append(list, Signal{Signal: "condition Ready", Reason: last.Reason, Message: last.Message, Past: true})
	}
	switch {
	case r.Kind == "Pod":
		list = append(list, ofPod(u)...)
	case r.Kind == "Node":
		list = append(list, ofNode(u)...)
	}
	for _, line := range s.logs[r] {
		list = append(list, Signal{Signal: "log", Message: line})
	}
	list = slices.Concat(list, s.said[r], s.events[r])
	for i := range list {
		list[i].Past = list[i].Past || u.GetDeletionTimestamp() != nil || slices.Contains(reports(), list[i].Signal)
	}
	return list
}

// reports are the signals that are written once and stay: events for an hour, output of containers and machines for
// longer.
func reports() []string { return []string{"event", "terminated", "journal", "console"} }

// marks returns the signals for deletion, suspension, pause and phase of an object.
func marks(u *unstructured.Unstructured) []Signal {
	var list []Signal
	if u.GetDeletionTimestamp() != nil {
		list = append(list, Signal{Signal: "deleting", Message: "waits for its finalizers: " +
			strings.Join(u.GetFinalizers(), ", ")})
	}
	if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); suspended {
		list = append(list, Signal{Signal: "suspended", Reason: byPivot(u, owned.SuspendedAnnotation),
			Message: "spec.suspend is true"})
	}
	if strings.HasSuffix(u.GroupVersionKind().Group, "cluster.x-k8s.io") && health.Paused(u) {
		list = append(list, Signal{Signal: "paused", Reason: byPivot(u, owned.PivotAnnotation), Message: "is paused"})
	}
	if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase != "" {
		message, _, _ := unstructured.NestedString(u.Object, "status", "failureMessage")
		reason, _, _ := unstructured.NestedString(u.Object, "status", "reason")
		if message == "" {
			message, _, _ = unstructured.NestedString(u.Object, "status", "message")
		}
		list = append(list, Signal{Signal: "phase", Reason: strings.TrimSpace(phase + " " + reason), Message: message})
	}
	return list
}

// byPivot returns "pivot" if the annotation shows that a pivot paused or suspended the object, else "".
func byPivot(u *unstructured.Unstructured, annotation string) string {
	if u.GetAnnotations()[annotation] == "" {
		return ""
	}
	return "pivot"
}

// bad lists conditions that are a problem when they are True.
var bad = []string{"Stalled", "Failed", "DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable",
	"ReplicaFailure", "Denied", "InvalidRequest",
	"FetchFailed", "StorageOperationFailed", "BuildFailed"}

// failing returns the conditions of an object that show a problem.
func failing(u *unstructured.Unstructured) []Signal {
	var list []Signal
	for _, c := range health.Conditions(u) {
		wrongWhen := "False"
		if slices.Contains(bad, c.Type) {
			wrongWhen = "True"
		}
		if string(c.Status) == wrongWhen || c.Status == "Unknown" {
			list = append(list, Signal{Signal: "condition " + c.Type, Reason: c.Reason, Message: c.Message,
				Past: !c.Current || startsAnyhow(u)})
		}
	}
	return list
}

// startsAnyhow reports whether an OpenStack server starts or runs, regardless of its conditions: Cluster API's provider
// leaves the reason of an earlier refusal there.
func startsAnyhow(u *unstructured.Unstructured) bool {
	state, _, _ := unstructured.NestedString(u.Object, "status", "instanceState")
	return state == "BUILD" || state == "ACTIVE"
}

// retried reports whether Flux retries something that failed. During the retry the condition shows only the retry, and
// the last event shows the failure. Events from before the last success do not count.
func retried(u *unstructured.Unstructured) bool {
	if !strings.HasSuffix(u.GroupVersionKind().Group, ".toolkit.fluxcd.io") ||
		health.ConditionOf(u, fluxmeta.ReadyCondition).Reason != fluxmeta.ProgressingReason {
		return false
	}
	if health.ConditionOf(u, "Healthy").Reason == fluxmeta.ProgressingReason { // applied, and waiting for health
		return false
	}
	// set on success, or when Flux gave up
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

// ofContainer returns the signals of a container that waits, or that ended with an error.
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
		list = append(list, Signal{Signal: "terminated", Reason: reason,
			Message: fmt.Sprintf("container %s ended with exit code %d: %s", name, code, strings.TrimSpace(message))})
	}
	if waiting, found, _ := unstructured.NestedMap(container, "state", "waiting"); found {
		reason, _ := waiting["reason"].(string)
		message, _ := waiting["message"].(string)
		list = append(list, Signal{Signal: "waiting", Reason: reason, Message: "container " + name + ": " + message})
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
		list = append(list, Signal{Signal: "taint", Reason: key, Message: key + ":" + effect})
	}
	return list
}
