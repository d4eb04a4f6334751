package capi

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cluster-api/util/secret"
)

// ownBySecretName makes a Cluster own the Secrets that are named after it and that have no other owner.
func (g *Graph) ownBySecretName() {
	clusters := g.byKind(clusterKind.GroupKind())
	for _, s := range g.byKind(secretKind.GroupKind()) {
		name, _, err := secret.ParseSecretName(s.object.GetName())
		if err != nil || len(s.owners) > 0 {
			continue
		}
		for uid, c := range clusters {
			if c.object.GetName() == name && c.object.GetNamespace() == s.object.GetNamespace() {
				s.owners = append(s.owners, uid)
			}
		}
	}
}

// ownByReference makes a ClusterClass own the Clusters that use it, and a Cluster its ClusterResourceSetBindings.
func (g *Graph) ownByReference() {
	clusters := g.byKind(clusterKind.GroupKind())
	for uid, class := range g.byKind(classKind.GroupKind()) {
		for _, c := range clusters {
			ns, name := classOf(c.object)
			if name == class.object.GetName() && ns == class.object.GetNamespace() {
				c.owners = append(c.owners, uid)
			}
		}
	}
	for _, binding := range g.byKind(setBindingKind.GroupKind()) {
		name, _, _ := unstructured.NestedString(binding.object.Object, "spec", "clusterName")
		for uid, c := range clusters {
			if name == c.object.GetName() && binding.object.GetNamespace() == c.object.GetNamespace() {
				binding.owners = append(binding.owners, uid)
			}
		}
	}
}

// classOf returns the namespace and name of the ClusterClass that a Cluster uses, or "".
func classOf(cluster *unstructured.Unstructured) (namespace, name string) {
	name, _, _ = unstructured.NestedString(cluster.Object, "spec", "topology", "classRef", "name")
	namespace, _, _ = unstructured.NestedString(cluster.Object, "spec", "topology", "classRef", "namespace")
	if namespace == "" {
		namespace = cluster.GetNamespace()
	}
	return namespace, name
}

// markMembers walks down from each object that moves with everything it owns.
func (g *Graph) markMembers() {
	dependents := map[types.UID][]*node{}
	for _, n := range g.nodes {
		for _, owner := range n.owners {
			dependents[owner] = append(dependents[owner], n)
		}
	}
	var walk func(n *node, shared bool)
	walk = func(n *node, shared bool) {
		if n.member && (n.shared || !shared) {
			return // visited before, without news: this also ends cycles
		}
		n.member, n.shared = true, n.shared || shared
		for _, d := range dependents[n.object.GetUID()] {
			walk(d, shared)
		}
	}
	for _, n := range g.nodes {
		if n.moveHierarchy {
			walk(n, n.global)
		}
	}
}

// Moves returns the objects that clusterctl would move, sorted. An object moves only after all its owners, so one with
// an owner that does not move stays: see Orphans.
func (g *Graph) Moves() []Object {
	var moves []Object
	for uid := range g.sequenced() {
		moves = append(moves, g.identity(uid))
	}
	return sorted(moves)
}

// Get returns the object as it was when the graph was read. Discover drops its status and managed fields.
func (g *Graph) Get(o Object) (*unstructured.Unstructured, bool) {
	n, ok := g.nodes[o.UID]
	if !ok {
		return nil, false
	}
	return n.object, true
}

// Dangling returns the objects, of those given, with an owner reference to something that is not in the graph: the
// garbage collector deletes an object whose owners do not exist.
func (g *Graph) Dangling(objects []Object) []Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o Object) bool {
		n, ok := g.nodes[o.UID]
		return !ok || !slices.ContainsFunc(n.object.GetOwnerReferences(), g.unknownOwner)
	})
}

func (g *Graph) unknownOwner(ref metav1.OwnerReference) bool { return g.nodes[ref.UID] == nil }

func (g *Graph) identity(uid types.UID) Object {
	n := g.nodes[uid]
	o := ObjectOf(n.object)
	o.Shared = n.global || n.shared
	return o
}

// sequence computes clusterctl's order of the move: all owners of an object are in earlier groups.
func (g *Graph) sequence() [][]types.UID {
	taken := map[types.UID]bool{}
	for groups := [][]types.UID{}; ; {
		var group []types.UID
		for uid, n := range g.nodes {
			ready := !slices.ContainsFunc(n.owners, func(owner types.UID) bool { return !taken[owner] })
			if (n.member || n.move) && !taken[uid] && ready {
				group = append(group, uid)
			}
		}
		if len(group) == 0 {
			return groups
		}
		for _, uid := range group {
			taken[uid] = true
		}
		groups = append(groups, group)
	}
}

// sequenced returns the objects in all groups of the move.
func (g *Graph) sequenced() map[types.UID]bool {
	taken := map[types.UID]bool{}
	for _, group := range g.sequence() {
		for _, uid := range group {
			taken[uid] = true
		}
	}
	return taken
}

// All returns every object that was read, moving or not, sorted.
func (g *Graph) All() []Object {
	all := make([]Object, 0, len(g.nodes))
	for uid := range g.nodes {
		all = append(all, g.identity(uid))
	}
	return sorted(all)
}
