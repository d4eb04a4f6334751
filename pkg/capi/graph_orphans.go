package capi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Orphan is an object that would move, but stays because one of its owners does not move. clusterctl does not report
// it.
type Orphan struct {
	Object Object
	// Owner is the owner that does not move, as text such as "Kind namespace/name". It is empty in a cycle.
	Owner string
	// Owned is the object that names that owner: Object itself, or an owner of Object. It is empty in a cycle.
	Owned Object
	// Missing reports whether that owner is not in the graph: it does not exist, its kind lacks clusterctl's label, or
	// it is in another namespace.
	Missing bool
	// Cycle are the objects that own each other in a cycle, which is why none of them can move next.
	Cycle []Object
}

// Orphans returns the orphans of the graph, sorted by object.
func (g *Graph) Orphans() []Orphan {
	moves := g.sequenced()
	var strays []Orphan
	for uid, n := range g.nodes {
		if (n.member || n.move) && !moves[uid] {
			strays = append(strays, g.stray(uid, moves))
		}
	}
	slices.SortFunc(strays, func(a, b Orphan) int { return strings.Compare(a.Object.String(), b.Object.String()) })
	return strays
}

// stray walks up from an object that does not move, through owners that do not move either, to the one that holds all
// of them back. It ends there, or at an object that it has visited.
func (g *Graph) stray(uid types.UID, moves map[types.UID]bool) Orphan {
	found := Orphan{Object: g.identity(uid)}
	var path []types.UID
	for at := uid; ; {
		if i := slices.Index(path, at); i >= 0 {
			for _, each := range path[i:] {
				found.Cycle = append(found.Cycle, g.identity(each))
			}
			found.Cycle = sorted(found.Cycle)
			return found
		}
		path = append(path, at)
		next := types.UID("")
		for _, owner := range g.ownersOf(at) {
			n, known := g.nodes[owner.uid]
			switch {
			case moves[owner.uid]:
			case !known || !n.member && !n.move:
				found.Owner, found.Owned, found.Missing = owner.text, g.identity(at), !known
				return found
			case next == "":
				next = owner.uid
			}
		}
		at = next
	}
}

type ownerText struct {
	uid  types.UID
	text string
}

// ownersOf returns the owners of a node, sorted by text.
func (g *Graph) ownersOf(uid types.UID) []ownerText {
	n := g.nodes[uid]
	var owners []ownerText
	for _, owner := range n.owners {
		text := ""
		if g.nodes[owner] != nil {
			text = g.identity(owner).String()
		}
		for _, ref := range n.object.GetOwnerReferences() {
			if ref.UID == owner && text == "" {
				text = ref.Kind + " " + ref.Name
			}
		}
		owners = append(owners, ownerText{owner, text})
	}
	slices.SortFunc(owners, func(a, b ownerText) int { return strings.Compare(a.text, b.text) })
	return owners
}
