package timeline

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// Node is a component of a cluster with its dependencies.
type Node struct {
	Object   event.Object // last seen state
	WaitsFor []int        // indexes of nodes of the same kind
	// Critical reports whether it is on the critical path of a phase.
	Critical bool
	// Followed are those of WaitsFor whose end decided its start on the critical path.
	Followed []int
}

// Components returns the components of a cluster with their dependencies, in the order of their first event.
func (t Timeline) Components(cluster string) []Node {
	var nodes []Node
	var names [][]string
	for _, h := range t.Histories {
		if h.Object.Cluster != cluster || !slices.Contains(components, h.Object.Kind) {
			continue
		}
		nodes = append(nodes, Node{Object: h.Object})
		var waitsFor []string
		for _, c := range h.Changes {
			waitsFor = append(waitsFor, c.Object.WaitsFor...)
		}
		slices.Sort(waitsFor)
		names = append(names, slices.Compact(waitsFor))
	}
	decided := t.decided()
	for n := range nodes {
		before, critical := decided[nodes[n].Object.ID()]
		nodes[n].Critical = critical
		for _, name := range names[n] {
			for i, other := range nodes {
				if i != n && other.Object.Name == name && other.Object.Kind == nodes[n].Object.Kind {
					nodes[n].WaitsFor = append(nodes[n].WaitsFor, i)
					if slices.Contains(before, other.Object.ID()) {
						nodes[n].Followed = append(nodes[n].Followed, i)
					}
				}
			}
		}
	}
	return nodes
}

// decided returns the objects on the critical path by ID. Each has the objects that it followed there: none, or one in
// each phase.
func (t Timeline) decided() map[string][]string {
	decided := map[string][]string{}
	for _, p := range t.Phases {
		g := graphOf(p, t.Histories)
		critical := g.critical()
		for n := range critical {
			id := g.tracks[n].object.ID()
			before := decided[id]
			if after := g.tracks[n].after; critical[after] {
				before = append(before, g.tracks[after].object.ID())
			}
			decided[id] = before
		}
	}
	return decided
}
