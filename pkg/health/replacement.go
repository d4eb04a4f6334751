package health

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Replacement is what Cluster API does with a Machine that failed a health check.
type Replacement struct {
	// Unhealthy says why the check failed.
	Unhealthy string
	// Started reports that the machine is being deleted, to be replaced.
	Started bool
	// Requested reports that the health check has asked the owner to replace the machine.
	Requested bool
	// Held is the reason why the owner waits. Empty means that the owner gives none.
	Held string
}

// ReplacementOf reads it from the conditions of a Machine. It returns false for a machine that failed no check.
func ReplacementOf(machine *unstructured.Unstructured) (Replacement, bool) {
	check := ConditionOf(machine, clusterv1.MachineHealthCheckSucceededCondition)
	if check.Status != corev1.ConditionFalse {
		return Replacement{}, false
	}
	r := Replacement{Unhealthy: cmp.Or(failures(check.Message), check.Reason),
		Started: machine.GetDeletionTimestamp() != nil}
	request := ConditionOf(machine, clusterv1.MachineOwnerRemediatedCondition)
	r.Requested = request.Status == corev1.ConditionFalse
	if request.Reason != clusterv1.MachineOwnerRemediatedWaitingForRemediationReason {
		r.Held = request.Message
	}
	// RKE2's control plane answers in the older convention only
	if old := olderCondition(machine, clusterv1.MachineOwnerRemediatedCondition); r.Requested && r.Held == "" {
		r.Held = old
	}
	if r.Started || !r.Requested {
		r.Held = ""
	}
	return r, true
}

// String says what happens to the machine, for people.
func (r Replacement) String() string {
	switch {
	case r.Started:
		return "is being replaced: " + r.Unhealthy
	case r.Held != "":
		return "is not replaced: " + r.Held + ". It is unhealthy: " + r.Unhealthy
	case r.Requested:
		return "is to be replaced: " + r.Unhealthy
	}
	return "is unhealthy: " + r.Unhealthy
}

// failures returns the reasons in the message of a failed check on one line.
func failures(message string) string {
	var reasons []string
	for line := range strings.Lines(strings.TrimPrefix(message, "Health check failed:")) {
		if reason := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "* ")); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// olderCondition returns the message of a condition that is False in Cluster API's older convention.
func olderCondition(u *unstructured.Unstructured, conditionType string) string {
	for _, c := range maps(u, "status", "deprecated", "v1beta1", "conditions") {
		if c["type"] == conditionType && c["status"] == "False" {
			message, _ := c["message"].(string)
			return message
		}
	}
	return ""
}

// isHealthCheck reports whether u decides which machines are replaced.
func isHealthCheck(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().Group == "cluster.x-k8s.io" && u.GetKind() == "MachineHealthCheck"
}

// ofHealthCheck reads the state of a health check: ready if it may replace machines. More machines than it replaces may
// also be on their way, so it has not failed.
func ofHealthCheck(u *unstructured.Unstructured) State {
	allowed := ConditionOf(u, clusterv1.MachineHealthCheckRemediationAllowedCondition)
	if allowed.Reason == NotReported {
		return State{Status: Progressing, Message: "has no status yet"}
	}
	s := State{Status: Ready, Reason: allowed.Reason, Message: allowed.Message}
	if allowed.Status == corev1.ConditionFalse {
		s.Status = Progressing
	}
	return s
}
