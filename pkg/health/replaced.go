package health

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// LeftAsIs reports whether Cluster API keeps the outdated machines of u until a user acts. u is a control plane, a
// MachineDeployment or a Machine.
func LeftAsIs(u *unstructured.Unstructured) bool {
	if Paused(u) {
		return true
	}
	switch u.GetKind() {
	case "MachineDeployment":
		strategy, _, _ := unstructured.NestedString(u.Object, "spec", "rollout", "strategy", "type")
		return strategy == string(clusterv1.OnDeleteMachineDeploymentStrategyType)
	case "Machine":
		return OtherVersion(ConditionOf(u, clusterv1.MachineUpToDateCondition)) ||
			!slices.ContainsFunc([]string{clusterv1.MachineControlPlaneLabel, clusterv1.MachineDeploymentNameLabel,
				clusterv1.MachinePoolNameLabel}, func(label string) bool {
				_, has := u.GetLabels()[label]
				return has
			})
	}
	return false
}

// OtherVersion reports whether a Machine is outdated only because its image contains another version of Kubernetes than
// specified. current is its condition UpToDate. Cluster API v1.14.0 replaces no Machine for that.
func OtherVersion(current Condition) bool {
	return current.Status == "False" && current.Reason == clusterv1.MachineUpToDateUpdatingReason &&
		strings.Contains(current.Message, "kubeletVersion")
}
