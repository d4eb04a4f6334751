package capi

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Groups returns what clusterctl would move, in the groups in which it creates it: owners first. It deletes them at the
// source in the opposite order. Each group is sorted.
func (g *Graph) Groups() [][]Object {
	var groups [][]Object
	for _, uids := range g.sequence() {
		group := make([]Object, 0, len(uids))
		for _, uid := range uids {
			group = append(group, g.identity(uid))
		}
		groups = append(groups, sorted(group))
	}
	return groups
}

// Parent returns the owner below which an object is shown in a tree: its controller, else the first of its owners by
// text. False means that no object in the graph owns it.
func (g *Graph) Parent(o Object) (Object, bool) {
	n, ok := g.nodes[o.UID]
	if !ok {
		return Object{}, false
	}
	var owners []Object
	for _, uid := range n.owners {
		if g.nodes[uid] != nil {
			owners = append(owners, g.identity(uid))
		}
	}
	if len(owners) == 0 {
		return Object{}, false
	}
	controller := controllerOf(n)
	return slices.MinFunc(owners, func(a, b Object) int {
		switch {
		case a.UID == controller:
			return -1
		case b.UID == controller:
			return 1
		}
		return cmp.Compare(a.String(), b.String())
	}), true
}

func controllerOf(n *node) types.UID {
	for _, ref := range n.object.GetOwnerReferences() {
		if ptr.Deref(ref.Controller, false) {
			return ref.UID
		}
	}
	return ""
}

// Unreferenced returns the objects of a namespace that neither move nor are Orphans, sorted. It omits the ConfigMap
// that Kubernetes creates in each namespace.
func (g *Graph) Unreferenced(namespace string) []Object {
	moves := g.sequenced()
	var idle []Object
	for uid, n := range g.nodes {
		o := g.identity(uid)
		if moves[uid] || n.member || n.move || o.Namespace != namespace || o.Kind == configMapKind.Kind &&
			o.Name == rootCertificates {
			continue
		}
		idle = append(idle, o)
	}
	return sorted(idle)
}

// rootCertificates is the ConfigMap that Kubernetes puts into each namespace.
const rootCertificates = "kube-root-ca.crt"

// Below returns an object and everything that it owns by owner references, directly or not, sorted.
func (g *Graph) Below(top Object) []Object {
	seen := map[types.UID]bool{top.UID: true}
	for grown := true; grown; {
		grown = false
		for uid, n := range g.nodes {
			if seen[uid] {
				continue
			}
			for _, ref := range n.object.GetOwnerReferences() {
				if seen[ref.UID] {
					seen[uid], grown = true, true
				}
			}
		}
	}
	var all []Object
	for uid := range seen {
		if g.nodes[uid] != nil {
			all = append(all, g.identity(uid))
		}
	}
	return sorted(all)
}
