package timeline

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// Span is the time that an object was under way in a phase.
type Span struct {
	Object event.Object
	// First is when it was first seen not ready in the phase. Start is when it had nothing left to wait for. End is
	// when it was ready or the phase ended.
	First, Start, End time.Time
	// Critical reports whether it is on the critical path.
	Critical bool
}

// Spans returns the objects that the critical path of a phase considers, in the order of their start.
func (t Timeline) Spans(p Phase) []Span {
	g := graphOf(p, t.Histories)
	critical := g.critical()
	var spans []Span
	for n, track := range g.tracks {
		spans = append(spans, Span{Object: track.object, First: track.first, Start: track.start, End: track.end,
			Critical: critical[n]})
	}
	slices.SortStableFunc(spans, func(a, b Span) int { return a.Start.Compare(b.Start) })
	return spans
}
