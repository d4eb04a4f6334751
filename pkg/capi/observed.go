package capi

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Observed is what the status of an object says of its controller's last look at it. A move creates objects without
// their status, so all of it was said in this cluster.
type Observed struct {
	// Generation is status.observedGeneration; 0: it does not say.
	Generation int64
	// Paused reports whether the controller saw that the object, or its Cluster, is paused.
	Paused bool
	// Replicas are the machines that a MachineDeployment, MachineSet or MachinePool counts. What it does not say counts
	// as none; where it is not said how many are wanted, that is one, as for Kubernetes.
	Replicas health.Replicas
	// UpToDate is what a Machine says of whether it is of the latest spec.
	UpToDate health.Condition
}

// Observed returns it for an object of the graph.
func (g *Graph) Observed(o Object) Observed {
	if n, there := g.nodes[o.UID]; there {
		return n.observed
	}
	return Observed{}
}

func observedOf(u *unstructured.Unstructured) Observed {
	count := func(without int64, path ...string) int64 {
		if n, found, err := unstructured.NestedInt64(u.Object, path...); found && err == nil {
			return n
		}
		return without
	}
	return Observed{
		Generation: count(0, "status", "observedGeneration"),
		Paused:     health.ConditionOf(u, clusterv1.PausedCondition).Status == corev1.ConditionTrue,
		Replicas: health.Replicas{Of: "workers", Desired: count(1, "spec", "replicas"),
			Ready:    count(0, "status", "readyReplicas"),
			UpToDate: count(0, "status", "upToDateReplicas"), All: count(0, "status", "replicas")},
		UpToDate: health.ConditionOf(u, clusterv1.MachineUpToDateCondition),
	}
}

// SaysGeneration reports whether the controller of an object writes status.observedGeneration each time that it has
// reconciled the object, and never while that is paused.
func (o Object) SaysGeneration() bool { return slices.Contains(sayGeneration, o.Key().GroupKind) }

// sayGeneration are the kinds of which that is so, as the sources of Cluster API v1.14.0 and CAPRKE2 v0.21.0 have it. A
// CRD that has the field is no sign of it: no controller writes that of CAPD's DevMachinePool. Of other providers
// nobody knows.
var sayGeneration = []schema.GroupKind{
	{Group: "cluster.x-k8s.io", Kind: "Cluster"},
	{Group: "cluster.x-k8s.io", Kind: "ClusterClass"},
	{Group: "cluster.x-k8s.io", Kind: "Machine"},
	{Group: "cluster.x-k8s.io", Kind: "MachineDeployment"},
	{Group: "cluster.x-k8s.io", Kind: "MachineHealthCheck"},
	{Group: "cluster.x-k8s.io", Kind: "MachinePool"},
	{Group: "cluster.x-k8s.io", Kind: "MachineSet"},
	{Group: "addons.cluster.x-k8s.io", Kind: "ClusterResourceSet"},
	{Group: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfig"},
	{Group: "bootstrap.cluster.x-k8s.io", Kind: "RKE2Config"},
	{Group: "controlplane.cluster.x-k8s.io", Kind: "KubeadmControlPlane"},
	{Group: "controlplane.cluster.x-k8s.io", Kind: "RKE2ControlPlane"},
}
