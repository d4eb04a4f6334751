package timeline

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// worthSaying is by how much the end is delayed at least, before it is said: earlier runs differ from each other by
// less than that.
const worthSaying = 10 * time.Second

// Delay is what delays the end of the run at a time, and by how much: by how much earlier its phase would end, had what
// is under way been ready after as long as it usually took, and all that is left took as long as usual. Where nobody
// can say what of the phase it is, it is the phase. Nil: nothing does, or nobody knows.
func (e *Estimate) Delay(at time.Time) *event.Delay {
	earlier := e.alike()
	if !e.knows() || e.phase == "" || len(earlier) == 0 {
		return nil
	}
	if d := e.ofObjects(at, earlier); d != nil {
		return d
	}
	return e.ofPhase(at, earlier)
}

// ofObjects is which of the objects that the phase follows delay its end. Nil: none does, or nobody knows, as where one
// was never under way in that phase of earlier runs.
func (e *Estimate) ofObjects(at time.Time, earlier []Timeline) *event.Delay {
	o, known := e.outlook(at, earlier)
	if !known {
		return nil
	}
	var late []int // under way for longer than usual
	for n, t := range o.tracks {
		if o.begun(n) && at.Sub(t.start) > o.took[n] {
			late = append(late, n)
		}
	}
	by := o.delay(late)
	if by < worthSaying {
		return nil
	}
	for _, n := range slices.Clone(late) { // of one without whom the end is as late nothing is said
		others := slices.DeleteFunc(slices.Clone(late), func(m int) bool { return m == n })
		if by-o.delay(others) < worthSaying {
			late = others
		}
	}
	return &event.Delay{Objects: o.names(late), By: by}
}

// outlook is how the phase that is under way will go on. False: nobody knows, or none is.
func (e *Estimate) outlook(at time.Time, earlier []Timeline) (outlook, bool) {
	if e.phase == "" {
		return outlook{}, false
	}
	now := e.run.timeline()
	p := now.Phases[len(now.Phases)-1]
	p.End = at
	g := graphOf(p, now.Histories)
	took, known := g.usual(earlier)
	return outlook{graph: g, took: took, at: at}, known && !g.unclear(now.Histories)
}

// ofPhase is by how much the phase that is under way takes longer than usual.
func (e *Estimate) ofPhase(at time.Time, earlier []Timeline) *event.Delay {
	took := usual(e.phase, earlier)
	if by := at.Sub(e.since) - took; took > 0 && by >= worthSaying {
		return &event.Delay{By: by}
	}
	return nil
}

// usual is how long each track took in the same phase of earlier runs, the median. False: one of them was never under
// way there, so nobody knows.
func (g graph) usual(earlier []Timeline) ([]time.Duration, bool) {
	took := map[string][]time.Duration{}
	for _, t := range earlier {
		for _, p := range t.Phases {
			if p.Name != g.phase.Name || p.State != Done {
				continue
			}
			for _, track := range graphOf(p, t.Histories).tracks {
				took[track.object.ID()] = append(took[track.object.ID()], track.end.Sub(track.start))
			}
		}
	}
	all := make([]time.Duration, len(g.tracks))
	for n, t := range g.tracks {
		each := took[t.object.ID()]
		if len(each) == 0 {
			return nil, false
		}
		all[n] = median(each)
	}
	return all, true
}

// unclear tells whether it cannot be said what something of the graph waits for: it was ready before, or waits for what
// nobody has seen.
func (g graph) unclear(histories []History) bool {
	return slices.ContainsFunc(g.tracks, func(t track) bool {
		if ended(t.object) {
			return false
		}
		return t.again || slices.ContainsFunc(t.object.WaitsFor, func(name string) bool {
			return !slices.ContainsFunc(histories, func(h History) bool {
				return h.Object.Cluster == t.object.Cluster &&
					h.Object.Name == name
			})
		})
	})
}

// outlook is how a phase that is under way will go on, if all that is left takes as long as usual.
type outlook struct {
	graph
	took []time.Duration // by track
	at   time.Time
}

// begun tells whether a track is under way with nothing left to wait for.
func (o outlook) begun(n int) bool {
	return o.underWay(n) && !slices.ContainsFunc(o.tracks[n].waitsFor, o.underWay)
}

func (o outlook) underWay(n int) bool { return !ended(o.tracks[n].object) }

// delay is by how much earlier the phase would end, had these tracks been ready after as long as usual.
func (o outlook) delay(late []int) time.Duration { return o.end(nil).Sub(o.end(late)) }

// end is when the last track will be ready, had some been so after as long as usual.
func (o outlook) end(asUsual []int) time.Time {
	var last time.Time
	known := map[int]time.Time{}
	for n := range o.tracks {
		if end := o.ready(n, asUsual, known); end.After(last) {
			last = end
		}
	}
	return last
}

// ready is when the track n will be ready, or was.
func (o outlook) ready(n int, asUsual []int, known map[int]time.Time) time.Time {
	if end, is := known[n]; is {
		return end
	}
	t := o.tracks[n]
	if !o.underWay(n) {
		return t.end
	}
	known[n] = t.start // a circle ends here
	start := t.start
	if !o.begun(n) {
		start = t.first
		for _, before := range t.waitsFor {
			if end := o.ready(before, asUsual, known); end.After(start) {
				start = end
			}
		}
	}
	end := start.Add(o.took[n])
	if o.begun(n) && !slices.Contains(asUsual, n) && end.Before(o.at) {
		end = o.at
	}
	known[n] = end
	return end
}
