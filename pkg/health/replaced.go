package health

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// LeftAsIs reports whether a control plane, a MachineDeployment or a Machine keeps its old machines until a user acts:
// it is paused, its strategy is OnDelete, it is a worker that no MachineDeployment and no MachinePool replaces, or its
// node has another version.
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

// OtherVersion reports whether a Machine, by its condition UpToDate, is outdated only because its node runs another
// version of Kubernetes than specified, as its image contains it. Cluster API v1.14.0 replaces no Machine for that.
func OtherVersion(current Condition) bool {
	return current.Status == "False" && current.Reason == clusterv1.MachineUpToDateUpdatingReason &&
		strings.Contains(current.Message, "kubeletVersion")
}
