package capi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Unowned returns the objects that name a Cluster of the graph in spec.clusterName, and that do not move because no
// Cluster owns them, directly or not. A controller of Cluster API makes the Cluster the owner a moment after an object
// was created. clusterctl does not report them. Unowned omits objects that are being deleted. It is sorted.
func (g *Graph) Unowned() []Object {
	var unowned []Object
	for uid, n := range g.nodes {
		if !n.member && !n.move && n.object.GetDeletionTimestamp() == nil && g.namesCluster(n) {
			unowned = append(unowned, g.identity(uid))
		}
	}
	return sorted(unowned)
}

func (g *Graph) namesCluster(n *node) bool {
	name, _, _ := unstructured.NestedString(n.object.Object, "spec", "clusterName")
	for _, c := range g.byKind(clusterKind.GroupKind()) {
		if c.object.GetName() == name && c.object.GetNamespace() == n.object.GetNamespace() {
			return true
		}
	}
	return false
}
