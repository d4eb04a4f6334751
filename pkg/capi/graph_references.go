package capi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Reference is a reference from one object's spec to another object.
type Reference struct{ From, To Object }

// LeftBehind returns the references from specs of moving objects to objects of the graph that do not move, sorted by
// target. An example is a template that has no owner yet. clusterctl does not report it, and the target's controllers
// do not find it. Orphans are not included. A target that is Shared, or in another namespace, may exist on both sides:
// the caller must check the other cluster.
func (g *Graph) LeftBehind() []Reference {
	moves := g.sequenced()
	byKey := map[Key]types.UID{}
	for uid, n := range g.nodes {
		byKey[ObjectOf(n.object).Key()] = uid
	}
	var left []Reference
	for _, mention := range g.mentions(moves) {
		to, known := byKey[mention.To]
		if !known || moves[to] {
			continue
		}
		if n := g.nodes[to]; !n.member && !n.move {
			left = append(left, Reference{From: mention.From, To: g.identity(to)})
		}
	}
	slices.SortFunc(left, func(a, b Reference) int {
		return strings.Compare(a.To.String()+" "+a.From.String(), b.To.String()+" "+b.From.String())
	})
	return slices.Compact(left)
}

// Ref is a reference from an object's spec to a target that may not exist.
type Ref struct {
	From Object
	To   Key
}

// ExternalRefs returns the references of moving objects to what a move never considers: a kind without clusterctl's
// label, or another namespace. Find reports whether the target exists. They are sorted by target, without duplicates.
func (g *Graph) ExternalRefs() []Ref {
	read := map[Key]bool{}
	for _, n := range g.nodes {
		read[ObjectOf(n.object).Key()] = true
	}
	unread := slices.DeleteFunc(g.mentions(g.sequenced()), func(m Ref) bool { return read[m.To] || g.reads(m.To) })
	slices.SortFunc(unread, func(a, b Ref) int {
		return strings.Compare(a.To.String()+" "+a.From.String(), b.To.String()+" "+b.From.String())
	})
	return slices.Compact(unread)
}

// reads reports whether the graph would contain the object if it existed.
func (g *Graph) reads(key Key) bool {
	if crd, ok := g.crd(key); ok {
		return !crd.Namespaced || slices.Contains(g.namespaces, key.Namespace)
	}
	core := key.GroupKind == secretKind.GroupKind() || key.GroupKind == configMapKind.GroupKind()
	return core && slices.Contains(g.namespaces, key.Namespace)
}

func (g *Graph) crd(key Key) (CRD, bool) {
	i := slices.IndexFunc(g.CRDs, func(crd CRD) bool { return crd.GVK.GroupKind() == key.GroupKind })
	if i < 0 {
		return CRD{}, false
	}
	return g.CRDs[i], true
}

// mentions returns all references in the specs of moving objects.
func (g *Graph) mentions(moves map[types.UID]bool) []Ref {
	var all []Ref
	for uid := range moves {
		from := g.identity(uid)
		n := refCollector{namespace: from.Namespace}
		if from.Key().Group == orcGroup {
			n.resources = g.resources()
		}
		n.read(g.nodes[uid].object.Object["spec"])
		for _, key := range n.keys {
			if crd, ok := g.crd(key); ok && !crd.Namespaced {
				key.Namespace = ""
			}
			all = append(all, Ref{from, key})
		}
	}
	return all
}

// resources are the labelled kinds of the OpenStack Resource Controller.
func (g *Graph) resources() []string {
	var kinds []string
	for _, crd := range g.CRDs {
		if crd.GVK.Group == orcGroup {
			kinds = append(kinds, crd.GVK.Kind)
		}
	}
	return kinds
}
