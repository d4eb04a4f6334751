package health

import (
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// OfAny reads the state of an object of any kind. kstatus reads most kinds of Kubernetes itself, and Of reads other
// objects that have, or will get, conditions. An object without a state of its own, such as a ConfigMap, is Ready.
func OfAny(u *unstructured.Unstructured) State {
	if u.GetDeletionTimestamp() != nil {
		return Of(u)
	}
	switch u.GroupVersionKind().Group {
	case "", "batch", "apiextensions.k8s.io", "policy", "apiregistration.k8s.io":
		return ofBuiltIn(u)
	case "apps":
		return Of(u)
	}
	if awaited(u.GroupVersionKind().Group, u.GetKind()) {
		return Of(u)
	}
	_, suspends, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
	for _, conditionType := range []string{"Ready", "Available", "Stalled"} {
		if suspends || ConditionOf(u, conditionType).Reason != NotReported {
			return Of(u)
		}
	}
	return State{Status: Ready}
}

// awaited reports whether a controller gives conditions to each object of a kind. Then it has not yet seen an object
// without conditions.
func awaited(group, kind string) bool {
	switch {
	case strings.HasSuffix(group, ".toolkit.fluxcd.io"):
		return slices.Contains([]string{"Kustomization", "HelmRelease", "GitRepository", "OCIRepository", "HelmChart",
			"Bucket"}, kind)
	case group == "cert-manager.io":
		return true
	case group == "cluster.x-k8s.io":
		return slices.Contains([]string{"Cluster", "Machine", "MachineDeployment", "MachineSet",
			"MachineHealthCheck"}, kind)
	case strings.HasSuffix(group, ".cluster.x-k8s.io"):
		return strings.HasSuffix(kind, "ControlPlane") || strings.HasSuffix(kind, "Machine") ||
			strings.HasSuffix(kind, "Cluster") || kind == "OpenStackServer"
	}
	return false
}

func ofBuiltIn(u *unstructured.Unstructured) State {
	if u.GetKind() == "Node" || u.GetKind() == "APIService" {
		return Of(u)
	}
	// kstatus would report a failed Pod as current
	if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); u.GetKind() == "Pod" &&
		phase == "Failed" {
		reason, _, _ := unstructured.NestedString(u.Object, "status", "reason")
		message, _, _ := unstructured.NestedString(u.Object, "status", "message")
		return State{Status: Failed, Reason: reason, Message: message}
	}
	result, err := status.Compute(u)
	switch {
	case err != nil:
		return State{Status: Progressing, Message: "its status cannot be read: " + err.Error()}
	case result.Status == status.CurrentStatus:
		return State{Status: Ready, Message: result.Message}
	case result.Status == status.FailedStatus:
		return State{Status: Failed, Message: result.Message}
	}
	s := State{Status: Progressing, Message: result.Message}
	for _, c := range result.Conditions {
		s.Reason = c.Reason
	}
	return s
}
