// Package health reads the state of objects: ready, progressing or failed, and why. Waits and reports read conditions
// through it, so that they agree about an object.
package health

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The states of an object.
const (
	Ready       = "Ready"
	Progressing = "Progressing"
	Failed      = "Failed" // the object has given up: waiting does not help
	Suspended   = "Suspended"
	Deleting    = "Deleting"
)

// State is what an object reports about itself. Status is one of the constants of this package.
type State struct {
	Status, Reason, Message string
}

// Of reads the state of an object. kstatus reads objects of the API group apps. All others follow the conventions of
// Flux and Cluster API: Stalled means Failed, and otherwise the condition Ready counts, or else Available. kstatus
// would report such an object as ready before its controller has observed it.
func Of(u *unstructured.Unstructured) State {
	if u.GetDeletionTimestamp() != nil {
		return deleting(u)
	}
	if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); suspended {
		return State{Status: Suspended, Message: "is suspended"}
	}
	if u.GroupVersionKind().Group == "apps" {
		return ofWorkload(u)
	}
	if isHealthCheck(u) {
		return ofHealthCheck(u)
	}
	// A condition that is older than the spec may describe a corrected problem.
	if stalled := ConditionOf(u, "Stalled"); stalled.True() {
		return State{Status: Failed, Reason: stalled.Reason, Message: stalled.Message}
	}
	for _, conditionType := range []string{"Ready", "Available"} {
		c := ConditionOf(u, conditionType)
		if c.Reason == NotReported {
			continue
		}
		s := State{Reason: c.Reason, Message: c.Message, Status: Progressing}
		if c.True() {
			s.Status = Ready
		} else if counted.MatchString(s.Message) {
			s.Message = summarized(u, conditionType, s)
		}
		return s
	}
	return State{Status: Progressing, Message: "has no status yet"}
}

// deleting returns the state of an object that is being deleted, with what its controller waits for.
func deleting(u *unstructured.Unstructured) State {
	s := State{Status: Deleting, Message: "is being deleted"}
	if why := WhyDeleting(u); why != "" {
		s.Message += ": " + why
	}
	return s
}

// WhyDeleting returns the message of the condition Deleting, or else its reason. Controllers of Cluster API report that
// condition while they delete. The result is "" without it.
func WhyDeleting(u *unstructured.Unstructured) string {
	c := ConditionOf(u, "Deleting")
	if c.Reason == NotReported || c.Status == corev1.ConditionFalse { // its controller has not started yet
		return ""
	}
	return cmp.Or(c.Message, c.Reason)
}

// ofWorkload reads an object whose Pods Kubernetes keeps running. It is never Failed: one that exceeded its progress
// deadline still becomes ready once its images can be pulled.
func ofWorkload(u *unstructured.Unstructured) State {
	result, err := status.Compute(u)
	if err != nil {
		return State{Status: Progressing, Message: fmt.Sprintf("its status cannot be read: %v", err)}
	}
	s := State{Status: Progressing, Message: result.Message}
	if result.Status == status.CurrentStatus {
		s.Status = Ready
	}
	for _, c := range result.Conditions {
		if c.Reason != "" {
			s.Reason = c.Reason
		}
		if c.Message != "" && !strings.Contains(s.Message, c.Message) {
			s.Message += ": " + c.Message
		}
	}
	return s
}

// Paused reports whether a Cluster API object is paused, by its spec or its annotation.
func Paused(u *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused")
	_, annotated := u.GetAnnotations()["cluster.x-k8s.io/paused"]
	return paused || annotated
}

// counted matches the message of a Ready condition in Cluster API's older convention, which summarizes other
// conditions: it has the reason of the failed one, but not its message.
var counted = regexp.MustCompile(`^[0-9]+ of [0-9]+ completed$`)

// summarized returns the type and the message of the condition that a summary is about, or else the summary's own
// message.
func summarized(u *unstructured.Unstructured, conditionType string, sum State) string {
	for _, c := range Conditions(u) {
		if c.Type != conditionType && c.Status != "True" && c.Reason == sum.Reason && c.Message != "" {
			return c.Type + ": " + c.Message
		}
	}
	return sum.Message
}
