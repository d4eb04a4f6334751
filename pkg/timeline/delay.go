package timeline

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// worthSaying is the minimum delay to report. Smaller differences between runs are normal.
const worthSaying = 10 * time.Second

// Delay returns what delays the end of the run, and by how much, compared with a phase that takes its usual time. If no
// object delays it, the phase itself can be the cause. Nil means no delay worth reporting, or not known.
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

// ofObjects returns the objects of the phase that delay its end. Nil means none, or not known, for example if an object
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
	for _, n := range slices.Clone(late) { // leave out objects that hardly change the end
		others := slices.DeleteFunc(slices.Clone(late), func(m int) bool { return m == n })
		if by-o.delay(others) < worthSaying {
			late = others
		}
	}
	return &event.Delay{Objects: o.names(late), By: by}
}

// outlook predicts the current phase. False means not known, or no current phase.
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

// ofPhase returns by how much the current phase takes longer than usual. Nil means not worth reporting, or not known.
func (e *Estimate) ofPhase(at time.Time, earlier []Timeline) *event.Delay {
	took := usual(e.phase, earlier)
	if by := at.Sub(e.since) - took; took > 0 && by >= worthSaying {
		return &event.Delay{By: by}
	}
	return nil
}

// usual returns the median duration of each track in the same phase of earlier runs. False means that one of them was
// never under way there.
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

// unclear reports whether the dependencies of a track are not known: it was ready before, or waits for an object
// without events.
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

// outlook is the prediction of a current phase whose remaining tracks take their usual time.
type outlook struct {
	graph
	took []time.Duration // by track
	at   time.Time
}

// begun reports whether a track is under way and waits for nothing else.
func (o outlook) begun(n int) bool {
	return o.underWay(n) && !slices.ContainsFunc(o.tracks[n].waitsFor, o.underWay)
}

func (o outlook) underWay(n int) bool { return !ended(o.tracks[n].object) }

// delay returns by how much earlier the phase would end if these tracks had taken their usual time.
func (o outlook) delay(late []int) time.Duration { return o.end(nil).Sub(o.end(late)) }

// end returns when the last track will be ready, if some had taken their usual time.
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

// ready returns when the track n was or will be ready.
func (o outlook) ready(n int, asUsual []int, known map[int]time.Time) time.Time {
	if end, is := known[n]; is {
		return end
	}
	t := o.tracks[n]
	if !o.underWay(n) {
		return t.end
	}
	known[n] = t.start // end of a cycle
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
