package capi

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Assemble makes the graph of given objects in namespaces, as a cluster with these CRDs would have it: what clusterctl
// would create from them, in which order, and what it would omit. Each object needs its own UID.
func Assemble(objects []*unstructured.Unstructured, crds []CRD, namespaces ...string) *Graph {
	byKind := map[schema.GroupKind]CRD{
		secretKind.GroupKind():    {Namespaced: true},
		configMapKind.GroupKind(): {Namespaced: true},
	}
	for _, crd := range crds {
		byKind[crd.GVK.GroupKind()] = crd
	}
	g := &Graph{CRDs: crds, namespaces: namespaces, nodes: map[types.UID]*node{}}
	for _, u := range objects {
		crd, known := byKind[u.GroupVersionKind().GroupKind()]
		if !known {
			crd.Namespaced = u.GetNamespace() != ""
		}
		g.nodes[u.GetUID()] = newNode(u, crd)
	}
	g.ownBySecretName()
	g.ownByReference()
	g.markMembers()
	return g
}
