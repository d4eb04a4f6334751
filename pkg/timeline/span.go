package timeline

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// Span is when an object was under way in a phase.
type Span struct {
	Object event.Object
	// First is when it was first seen not ready in the phase, Start when it had nothing left to wait for, End when it was ready or the phase over.
	First, Start, End time.Time
	// Critical is whether it is on the critical path.
	Critical bool
}

// Spans returns what a phase of the run followed, as far as the critical path is about it, in the order in which it began.
func (t Timeline) Spans(p Phase) []Span {
	g := graphOf(p, t.Histories)
	critical := map[int]bool{}
	for _, n := range g.chain() {
		for _, same := range g.together(n) {
			critical[same] = true
		}
	}
	var spans []Span
	for n, track := range g.tracks {
		spans = append(spans, Span{Object: track.object, First: track.first, Start: track.start, End: track.end, Critical: critical[n]})
	}
	slices.SortStableFunc(spans, func(a, b Span) int { return a.Start.Compare(b.Start) })
	return spans
}

// Node is a component of a cluster, and what it waited for.
type Node struct {
	Object   event.Object // as it was seen last
	WaitsFor []int        // other nodes
}

// Components returns what waits for each other by name in a cluster, in the order in which it was first seen.
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
	for n := range nodes {
		for _, name := range names[n] {
			for i, other := range nodes {
				if i != n && other.Object.Name == name && other.Object.Kind == nodes[n].Object.Kind {
					nodes[n].WaitsFor = append(nodes[n].WaitsFor, i)
				}
			}
		}
	}
	return nodes
}
