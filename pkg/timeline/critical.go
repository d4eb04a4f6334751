package timeline

import (
	"slices"
	"strings"
	"time"
)

// Segment is a part of the critical path of a run.
type Segment struct {
	Phase      string // the phase's title; empty: between phases
	Start, End time.Time
	// Objects are the progressing objects that waited for nothing else, as Kind/name. Empty for the phase itself, or if
	// no object was seen.
	Objects []string
	// Delays is by how much earlier the run would have ended if this segment had taken no time.
	Delays time.Duration
	// Explained reports whether the cause of the duration is known.
	Explained bool
}

// Elapsed is how long the segment took.
func (s Segment) Elapsed() time.Duration { return s.End.Sub(s.Start) }

// Title describes the segment in one line.
func (s Segment) Title() string {
	switch {
	case s.Phase == "":
		return "between phases"
	case len(s.Objects) > 0:
		return s.Phase + ": " + strings.Join(s.Objects, " and ")
	case !s.Explained:
		return s.Phase + ": nothing was seen to change"
	}
	return s.Phase
}

// CriticalPath returns the critical path of the run, without gaps. Phases follow each other, so each is on it. Within a
// phase it is the chain of objects that waited for each other.
func (t Timeline) CriticalPath() []Segment {
	var path []Segment
	at := t.Start
	between := func(until time.Time) {
		if until.After(at) {
			path = append(path, Segment{Start: at, End: until, Delays: until.Sub(at)})
		}
	}
	for _, p := range t.Phases {
		between(p.Start)
		path = append(path, graphOf(p, t.Histories).path()...)
		at = p.End
	}
	between(t.End)
	return path
}

// Explained returns the share of the run's time that the path explains, from 0 to 1.
func Explained(path []Segment) float64 {
	var known, all time.Duration
	for _, s := range path {
		all += s.Elapsed()
		if s.Explained {
			known += s.Elapsed()
		}
	}
	if all == 0 {
		return 1
	}
	return float64(known) / float64(all)
}

// path returns the segments of the phase, in their order.
func (g graph) path() []Segment {
	if len(g.tracks) == 0 {
		return []Segment{{Phase: g.phase.Title, Start: g.phase.Start, End: g.phase.End, Delays: g.phase.Elapsed(),
			Explained: true}}
	}
	var path []Segment // the last one first
	end := g.phase.End
	for _, n := range g.chain() {
		track := g.tracks[n]
		path = append(path, g.gap(track.end, end, false)...)
		if together := g.together(n); track.end.After(track.start) {
			path = append(path, Segment{Phase: g.phase.Title, Start: track.start, End: track.end,
				Objects: g.names(together),
				Delays:  g.delay(together), Explained: true})
		}
		end = track.start
	}
	path = append(path, g.gap(g.phase.Start, end, true)...) // the phase itself, before there was anything to follow
	slices.Reverse(path)
	return path
}

// gap returns the segments of a time in which no track of the graph was on the path, the last one first. They are the
// parts of the components, if those were under way.
func (g graph) gap(start, end time.Time, explained bool) []Segment {
	if !end.After(start) {
		return nil
	}
	inner := newGraph(Phase{Title: g.phase.Title, Start: start, End: end}, g.parts, nil)
	if len(inner.tracks) == 0 {
		return []Segment{{Phase: g.phase.Title, Start: start, End: end, Delays: end.Sub(start), Explained: explained}}
	}
	path := inner.path()
	slices.Reverse(path)
	return path
}

// names returns tracks as Kind/name, sorted.
func (g graph) names(tracks []int) []string {
	var names []string
	for _, n := range tracks {
		names = append(names, g.tracks[n].object.Kind+"/"+g.tracks[n].object.Name)
	}
	slices.Sort(names)
	return names
}
