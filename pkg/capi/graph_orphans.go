package capi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Orphan is an object that belongs to what moves, and stays because an owner of it does not move. clusterctl says
// nothing of it.
type Orphan struct {
	Object Object
	// Owner is the owner that does not move and what stands between it and the object: "Kind name". Empty in a cycle.
	Owner string
	// Owned is the object that names that owner: Object itself, or one that owns it.
	Owned Object
	// Missing reports whether that owner was not found among what a move looks at: it does not exist, is of a kind
	// without the label of clusterctl, or is somewhere else.
	Missing bool
	// Cycle are the objects that own each other in a circle, which is why none of them is ever the next to move.
	Cycle []Object
}

// Orphans returns the strays of the graph, sorted by object.
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
// of them back. It ends at such an owner, or where it has been before.
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
