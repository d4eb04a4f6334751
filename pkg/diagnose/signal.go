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
	// Origin is one of the origins, for a condition followed by its type.
	Origin  string `json:"signal"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Past reports that the statement may no longer hold. Examples are an event, a condition of an older spec, and the
	// failure before a retry of Flux.
	Past bool `json:"past,omitempty"`
	// At is the time of the statement, if known.
	At time.Time `json:"at,omitzero"`
}

// The origins of signals. Rules match them.
const (
	originCondition  = "condition " // and the type of the condition
	originWaiting    = "waiting"    // the state of a container
	originTerminated = "terminated" // the state of a container
	originEvent      = "event"
	originSuspended  = "suspended"
	originPaused     = "paused"
	originMissing    = "missing" // the object does not exist
	originDeleting   = "deleting"
	originPhase      = "phase"
	originTaint      = "taint"
	originError      = "error"   // of a request to an API server
	originLog        = "log"     // of a container, or of a controller about a machine
	originStopped    = "stopped" // a container of Docker
	originFault      = "fault"   // of a server, from Nova
	originCloud      = "cloud"   // from Neutron and Cinder
	originConsole    = "console" // of a machine
	originJournal    = "journal" // of a machine
	originReport     = "report"  // of machineadm on a machine, whose bootstrap is not retried
)

// signals returns the signals of an object: first what its fields show, then what is reported about it. Past signals
// can precede current ones.
func (s *Snapshot) signals(r health.Ref) []Signal {
	u := s.objects[r]
	if u == nil {
		return []Signal{{Origin: originMissing, Message: r.String() + " does not exist"}}
	}
	list := slices.Concat(metadataSignals(u), conditionSignals(u))
	if fluxRetries(u) && len(s.events[r]) > 0 {
		last := s.events[r][0]
		list = append(list, Signal{Origin: originCondition + "Ready", Reason: last.Reason, Message: last.Message,
			Past: true})
	}
	switch {
	case r.Kind == "Pod":
		list = append(list, podSignals(u)...)
	case r.Kind == "Node":
		list = append(list, taintSignals(u)...)
	}
	for _, line := range s.logs[r] {
		list = append(list, Signal{Origin: originLog, Message: line})
	}
	list = slices.Concat(list, s.machineSignals[r], s.events[r])
	for i := range list {
		list[i].Past = list[i].Past || u.GetDeletionTimestamp() != nil || slices.Contains(reportedOnce, list[i].Origin)
	}
	return list
}

// reportedOnce are the origins of signals that are written once and stay: events for an hour, output of containers and
// machines for longer.
var reportedOnce = []string{originEvent, originTerminated, originJournal, originConsole}

// metadataSignals returns the signals for deletion, suspension, pause and phase of an object.
func metadataSignals(u *unstructured.Unstructured) []Signal {
	var list []Signal
	if u.GetDeletionTimestamp() != nil {
		list = append(list, Signal{Origin: originDeleting, Message: "waits for its finalizers: " +
			strings.Join(u.GetFinalizers(), ", ")})
	}
	if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); suspended {
		list = append(list, Signal{Origin: originSuspended, Reason: byPivot(u, owned.SuspendedAnnotation),
			Message: "spec.suspend is true"})
	}
	if strings.HasSuffix(u.GroupVersionKind().Group, "cluster.x-k8s.io") && health.Paused(u) {
		list = append(list, Signal{Origin: originPaused, Reason: byPivot(u, owned.PivotAnnotation),
			Message: "is paused"})
	}
	if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase != "" {
		message, _, _ := unstructured.NestedString(u.Object, "status", "failureMessage")
		reason, _, _ := unstructured.NestedString(u.Object, "status", "reason")
		if message == "" {
			message, _, _ = unstructured.NestedString(u.Object, "status", "message")
		}
		list = append(list, Signal{Origin: originPhase, Reason: strings.TrimSpace(phase + " " + reason),
			Message: message})
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

// problemWhenTrue are conditions that are a problem when they are True.
var problemWhenTrue = []string{"Stalled", "Failed", "DiskPressure", "MemoryPressure", "PIDPressure",
	"NetworkUnavailable", "ReplicaFailure", "Denied", "InvalidRequest", "FetchFailed", "StorageOperationFailed",
	"BuildFailed"}

// conditionSignals returns the conditions of an object that show a problem.
func conditionSignals(u *unstructured.Unstructured) []Signal {
	var list []Signal
	for _, c := range health.Conditions(u) {
		wrongWhen := "False"
		if slices.Contains(problemWhenTrue, c.Type) {
			wrongWhen = "True"
		}
		if string(c.Status) == wrongWhen || c.Status == "Unknown" {
			list = append(list, Signal{Origin: originCondition + c.Type, Reason: c.Reason, Message: c.Message,
				Past: !c.Current || serverStarted(u)})
		}
	}
	return list
}

// serverStarted reports whether an OpenStack server starts or runs. Its conditions do not show that: Cluster API's
// provider leaves the reason of an earlier refusal there.
func serverStarted(u *unstructured.Unstructured) bool {
	state, _, _ := unstructured.NestedString(u.Object, "status", "instanceState")
	return state == "BUILD" || state == "ACTIVE"
}

// fluxRetries reports whether Flux retries something that failed. During the retry the condition shows only the retry,
// and the last event shows the failure. Events from before the last success do not count.
func fluxRetries(u *unstructured.Unstructured) bool {
	if !strings.HasSuffix(u.GroupVersionKind().Group, ".toolkit.fluxcd.io") ||
		health.ConditionOf(u, fluxmeta.ReadyCondition).Reason != fluxmeta.ProgressingReason {
		return false
	}
	if health.ConditionOf(u, "Healthy").Reason == fluxmeta.ProgressingReason { // applied, and waiting for health
		return false
	}
	observedGeneration, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	history, _, _ := unstructured.NestedSlice(u.Object, "status", "history")
	failed := false
	if len(history) > 0 {
		last, _ := history[0].(map[string]any)
		status, _ := last["lastReconciledStatus"].(string)
		failed = status != "" && status != fluxmeta.ReconciliationSucceededReason
	}
	// Flux sets observedGeneration on success, or when it gives up.
	return failed || observedGeneration < u.GetGeneration()
}

func podSignals(u *unstructured.Unstructured) []Signal {
	var list []Signal
	for _, field := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		statuses, _, _ := unstructured.NestedSlice(u.Object, "status", field)
		for _, status := range statuses {
			container, _ := status.(map[string]any)
			list = append(list, containerSignals(container)...)
		}
	}
	return list
}

// containerSignals returns the signals of a container that waits, or that ended with an error.
func containerSignals(container map[string]any) []Signal {
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
		list = append(list, Signal{Origin: originTerminated, Reason: reason,
			Message: fmt.Sprintf("container %s ended with exit code %d: %s", name, code, strings.TrimSpace(message))})
	}
	if waiting, found, _ := unstructured.NestedMap(container, "state", "waiting"); found {
		reason, _ := waiting["reason"].(string)
		message, _ := waiting["message"].(string)
		list = append(list, Signal{Origin: originWaiting, Reason: reason,
			Message: "container " + name + ": " + message})
	}
	return list
}

func taintSignals(u *unstructured.Unstructured) []Signal {
	var list []Signal
	taints, _, _ := unstructured.NestedSlice(u.Object, "spec", "taints")
	for _, item := range taints {
		taint, _ := item.(map[string]any)
		key, _ := taint["key"].(string)
		effect, _ := taint["effect"].(string)
		list = append(list, Signal{Origin: originTaint, Reason: key, Message: key + ":" + effect})
	}
	return list
}
