package render

import (
	"slices"

	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// The graph of dependencies: a column for each depth, a box for each component. Sizes are in pixels.
const (
	boxWidth, boxHeight = 190, 26
	columnWidth         = 250
	rowHeight           = 38
	margin              = 6
	nameLimit           = 26 // characters of a name that fit a box
)

// reportGraph is the drawn graph of one cluster.
type reportGraph struct {
	Cluster       string
	Width, Height int
	Nodes         []graphNode
	Edges         []graphEdge
}

type graphNode struct {
	Name, Title, State                string
	X, Y, Width, Height, TextX, TextY int
	Critical                          bool // on the critical path
}

type graphEdge struct {
	X1, Y1, X2, Y2, MiddleX int
	Critical                bool // the path goes along it
}

func newReportGraph(cluster string, components []timeline.Node) reportGraph {
	g := reportGraph{Cluster: cluster}
	rows := map[int]int{} // how many boxes a column has
	columns := depths(components)
	for n, c := range components {
		column := columns[n]
		node := graphNode{Name: oneline.Of(c.Object.Name, nameLimit), Title: c.Object.Kind + "/" + c.Object.Name +
			": " + whole(c.Object), State: c.Object.State,
			X: margin + column*columnWidth, Y: margin + rows[column]*rowHeight, Width: boxWidth, Height: boxHeight,
			Critical: c.Critical}
		node.TextX, node.TextY = node.X+10, node.Y+boxHeight*2/3
		rows[column]++
		g.Nodes = append(g.Nodes, node)
		g.Width, g.Height = max(g.Width, node.X+boxWidth+margin), max(g.Height, node.Y+boxHeight+margin)
	}
	for n, c := range components {
		for _, dependency := range c.WaitsFor {
			from, to := g.Nodes[dependency], g.Nodes[n]
			edge := graphEdge{X1: from.X + boxWidth, Y1: from.Y + boxHeight/2, X2: to.X, Y2: to.Y + boxHeight/2,
				Critical: slices.Contains(c.Followed, dependency)}
			edge.MiddleX = (edge.X1 + edge.X2) / 2
			g.Edges = append(g.Edges, edge)
		}
	}
	slices.SortStableFunc(g.Edges, func(a, b graphEdge) int { return rank(a) - rank(b) })
	return g
}

// rank orders edges for drawing: the highest is on top.
func rank(e graphEdge) int {
	if e.Critical {
		return 1
	}
	return 0
}

// depths returns the longest path before each component. A cycle ends where it began.
func depths(components []timeline.Node) []int {
	const unknown, open = -1, -2
	depth := make([]int, len(components))
	for n := range depth {
		depth[n] = unknown
	}
	var of func(n int) int
	of = func(n int) int {
		switch depth[n] {
		case open:
			return -1 // does not count
		case unknown:
			depth[n] = open
			deepest := 0
			for _, dependency := range components[n].WaitsFor {
				deepest = max(deepest, 1+of(dependency))
			}
			depth[n] = deepest
		}
		return depth[n]
	}
	for n := range components {
		of(n)
	}
	return depth
}
