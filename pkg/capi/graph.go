package capi

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	clusterKind    = clusterv1.GroupVersion.WithKind("Cluster")
	classKind      = clusterv1.GroupVersion.WithKind("ClusterClass")
	machineKind    = clusterv1.GroupVersion.WithKind("Machine")
	setKind        = addonsv1.GroupVersion.WithKind("ClusterResourceSet")
	setBindingKind = addonsv1.GroupVersion.WithKind("ClusterResourceSetBinding")
	providerKind   = clusterctlv1.GroupVersion.WithKind("Provider")
	secretKind     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	configMapKind  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// Graph holds the objects of one namespace that a move considers, and their owners; for a backup also those of further
// namespaces. Of their status it holds Observed.
//
// clusterctl does not export its own graph (cmd/clusterctl/client/cluster/objectgraph.go), so its rules are
// reimplemented here. An integration test compares both on real API servers.
type Graph struct {
	CRDs       []CRD // the labelled ones
	namespaces []string
	nodes      map[types.UID]*node
}

type node struct {
	object        *unstructured.Unstructured
	observed      Observed
	owners        []types.UID // by owner references; for some kinds also by name or by a reference in the spec
	move          bool        // moves even if no owner has moveHierarchy
	moveHierarchy bool        // moves, and so does everything that it owns
	global        bool        // not namespaced
	member        bool        // has moveHierarchy, or is owned by an object that has it, directly or not
	shared        bool        // is a global object with moveHierarchy, or is owned by one, directly or not
}

// Discover reads the graph of namespaces: the objects of every labelled CRD, Secrets and ConfigMaps, and the Secrets of
// infrastructure providers. It never writes. It reads the version that the API server stores, as clusterctl does.
func Discover(ctx context.Context, c client.Reader, namespaces ...string) (*Graph, error) {
	crds, err := LabelledCRDs(ctx, c)
	if err != nil {
		return nil, err
	}
	return discover(ctx, c, namespaces, crds, listEach)
}

// DiscoverServed reads the graph as Discover does, in the versions that the API server prefers, and with less work for
// both. It is for observations, which are frequent. What is compared with another cluster, or written to it, must have
// the stored version: use Discover.
func DiscoverServed(ctx context.Context, c client.Client, namespace string) (*Graph, error) {
	crds, err := servedKinds(ctx, c)
	if err != nil {
		return nil, err
	}
	return discover(ctx, c, []string{namespace}, crds, listServed)
}

// lister lists the objects of a kind: listEach or listServed.
type lister func(context.Context, client.Reader, schema.GroupVersionKind, func(*unstructured.Unstructured) error,
	...client.ListOption) error

func discover(ctx context.Context, c client.Reader, namespaces []string, crds []CRD, list lister) (*Graph, error) {
	g := &Graph{CRDs: crds, namespaces: namespaces, nodes: map[types.UID]*node{}}
	if err := eachAtOnce(crds, func(crd CRD) ([]*node, error) {
		return nodesOf(ctx, c, list, crd, namespaces)
	}, g.add); err != nil {
		return nil, err
	}
	if err := g.readCore(ctx, c, namespaces); err != nil {
		return nil, err
	}
	g.ownBySecretName()
	g.ownByReference()
	g.markMembers()
	return g, nil
}

// readCore reads ConfigMaps and Secrets; the latter also from the namespaces of infrastructure providers in
// clusterctl's inventory (none if providers were installed in another way).
func (g *Graph) readCore(ctx context.Context, c client.Reader, namespaces []string) error {
	maps, err := nodesOf(ctx, c, listEach, CRD{GVK: configMapKind, Namespaced: true}, namespaces)
	if err != nil {
		return err
	}
	g.add(maps)
	namespaces = slices.Clone(namespaces)
	providers, err := list[clusterctlv1.Provider](ctx, c, providerKind)
	if err != nil {
		return err
	}
	for _, p := range providers {
		if p.GetProviderType() == clusterctlv1.InfrastructureProviderType {
			namespaces = append(namespaces, p.Namespace)
		}
	}
	slices.Sort(namespaces)
	secrets, err := nodesOf(ctx, c, listEach, CRD{GVK: secretKind, Namespaced: true}, slices.Compact(namespaces))
	g.add(secrets)
	return err
}

func (g *Graph) add(nodes []*node) {
	for _, n := range nodes {
		g.nodes[n.object.GetUID()] = n
	}
}

// nodesOf lists the objects of a kind, those of a namespaced kind in the given namespaces.
func nodesOf(ctx context.Context, c client.Reader, list lister, crd CRD, namespaces []string) ([]*node, error) {
	var nodes []*node
	visit := func(u *unstructured.Unstructured) error {
		kept := u.DeepCopy()
		kept.SetManagedFields(nil) // this and the status are most of an object's size, and unused here
		unstructured.RemoveNestedField(kept.Object, "status")
		n := newNode(kept, crd)
		n.observed = observedOf(u)
		nodes = append(nodes, n)
		return nil
	}
	if !crd.Namespaced {
		err := list(ctx, c, crd.GVK, visit)
		return nodes, err
	}
	for _, namespace := range namespaces {
		if err := list(ctx, c, crd.GVK, visit, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

func newNode(u *unstructured.Unstructured, crd CRD) *node {
	n := &node{object: u, global: !crd.Namespaced}
	for _, labels := range []map[string]string{crd.Labels, u.GetLabels()} {
		_, hierarchy := labels[clusterctlv1.ClusterctlMoveHierarchyLabel]
		_, move := labels[clusterctlv1.ClusterctlMoveLabel]
		n.moveHierarchy = n.moveHierarchy || hierarchy
		n.move = n.move || move
	}
	switch u.GroupVersionKind().GroupKind() {
	case clusterKind.GroupKind(), classKind.GroupKind(), setKind.GroupKind():
		n.moveHierarchy, n.move = true, true
	}
	if _, ok := crd.Labels[clusterctlv1.ClusterctlMoveHierarchyLabel]; ok {
		n.move = true // on a CRD (not on an object) the hierarchy label includes the other one
	}
	for _, ref := range u.GetOwnerReferences() {
		n.owners = append(n.owners, ref.UID)
	}
	return n
}

// byKind returns the nodes of a kind, any version.
func (g *Graph) byKind(gk schema.GroupKind) map[types.UID]*node {
	found := map[types.UID]*node{}
	for uid, n := range g.nodes {
		if n.object.GroupVersionKind().GroupKind() == gk {
			found[uid] = n
		}
	}
	return found
}

// sorted returns the identities in text order, those of the same text by API group, so that output does not depend on
// map order.
func sorted(objects []Object) []Object {
	slices.SortFunc(objects, func(a, b Object) int {
		return cmp.Or(strings.Compare(a.String(), b.String()), strings.Compare(a.Key().Group, b.Key().Group))
	})
	return objects
}
