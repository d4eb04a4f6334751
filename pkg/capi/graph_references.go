package capi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Reference is that one object names another one in its spec.
type Reference struct{ From, To Object }

// LeftBehind returns what moving objects name in their specs and what does not move with them, sorted by what is named:
// a template that its controller has not yet given an owner, for example. clusterctl says nothing of it, and the
// controllers of the target look for it in vain. What belongs to the moving objects, but for an owner that does not
// move, is in Strays. What is Shared, or in another namespace, may exist on both sides for good: whoever asks has to
// look at the other one.
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

// Ref is that one object names something in its spec, which may not exist.
type Ref struct {
	From Object
	To   Key
}

// ExternalRefs returns what moving objects name in their specs and what a move never looks at: its kind has no label of
// clusterctl, or it is in another namespace. Find tells whether it exists. Sorted by what is named, none twice.
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

// reads reports whether the graph would hold the object if it existed.
func (g *Graph) reads(key Key) bool {
	if crd, ok := g.crd(key); ok {
		return !crd.Namespaced || key.Namespace == g.namespace
	}
	core := key.GroupKind == secretKind.GroupKind() || key.GroupKind == configMapKind.GroupKind()
	return core && key.Namespace == g.namespace
}

func (g *Graph) crd(key Key) (CRD, bool) {
	i := slices.IndexFunc(g.CRDs, func(crd CRD) bool { return crd.GVK.GroupKind() == key.GroupKind })
	if i < 0 {
		return CRD{}, false
	}
	return g.CRDs[i], true
}

// mentions returns what moving objects name in their specs, whatever that is.
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

// resources are the kinds of the OpenStack Resource Controller that are labelled.
func (g *Graph) resources() []string {
	var kinds []string
	for _, crd := range g.CRDs {
		if crd.GVK.Group == orcGroup {
			kinds = append(kinds, crd.GVK.Kind)
		}
	}
	return kinds
}
