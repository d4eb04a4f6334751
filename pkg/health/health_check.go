package health

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Checks reports whether a MachineHealthCheck is about a Machine.
func Checks(check, machine *unstructured.Unstructured) bool {
	cluster := func(u *unstructured.Unstructured) string {
		name, _, _ := unstructured.NestedString(u.Object, "spec", "clusterName")
		return name
	}
	if check.GetNamespace() != machine.GetNamespace() || cluster(check) != cluster(machine) {
		return false
	}
	fields, _, _ := unstructured.NestedMap(check.Object, "spec", "selector")
	var selector metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &selector) != nil {
		return false
	}
	matches, err := metav1.LabelSelectorAsSelector(&selector)
	return err == nil && matches.Matches(labels.Set(machine.GetLabels()))
}

// MayReplace reports whether a MachineHealthCheck replaces machines: it does not if too many are unhealthy. One whose
// controller has not judged it yet may.
func MayReplace(check *unstructured.Unstructured) bool {
	allowed := ConditionOf(check, clusterv1.MachineHealthCheckRemediationAllowedCondition)
	return allowed.Status != corev1.ConditionFalse
}

// Replaces reports whether a MachineHealthCheck will replace a Machine: the check is about it and may replace it, the
// Machine has a condition that the check calls unhealthy, or says that its Node does, and nothing exempts it. The Node
// may be in another cluster. Replaces is false for a Machine that was never a node: another one may fail in the same
// way. It does not know whether the controller of the check runs.
func Replaces(check, machine *unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(machine.Object, "status", "nodeRef", "name")
	_, skipped := machine.GetAnnotations()[clusterv1.MachineSkipRemediationAnnotation]
	r, _ := ReplacementOf(machine)
	if name == "" || skipped || paused(check) || paused(machine) || r.Held != "" || !Checks(check, machine) ||
		!MayReplace(check) {
		return false
	}
	for _, c := range maps(check, "spec", "checks", "unhealthyMachineConditions") {
		kind, _ := c["type"].(string)
		if has := ConditionOf(machine, kind); has.Reason != NotReported && string(has.Status) == c["status"] {
			return true
		}
	}
	node := ConditionOf(machine, clusterv1.MachineNodeReadyCondition)
	switch node.Reason {
	case clusterv1.MachineNodeDeletedReason:
		return true
	case clusterv1.MachineNodeNotReadyReason, clusterv1.MachineNodeReadyUnknownReason: // not: Cluster API did not ask
		ready := func(c map[string]any) bool {
			return c["type"] == string(corev1.NodeReady) && string(node.Status) == c["status"]
		}
		return slices.ContainsFunc(maps(check, "spec", "checks", "unhealthyNodeConditions"), ready)
	}
	return false
}

func paused(u *unstructured.Unstructured) bool {
	_, paused := u.GetAnnotations()[clusterv1.PausedAnnotation]
	return paused
}
