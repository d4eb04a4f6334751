package timeline

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// worthSaying is by how much the end is delayed at least, before it is said: earlier runs differ from each other by less than that.
const worthSaying = 10 * time.Second

// Delay is what delays the end of the run at a time, and by how much: by how much earlier its phase would end, had what is under way been ready after
// as long as it usually took, and all that is left took as long as usual. Nil: nothing does, or nobody knows, as where an earlier run has never seen one of
// the components.
func (e *Estimate) Delay(at time.Time) *event.Delay {
	earlier := e.alike()
	if !e.knows() || e.phase == "" || len(earlier) == 0 {
		return nil
	}
	now := e.run.timeline()
	p := now.Phases[len(now.Phases)-1]
	p.End = at
	g := graphOf(p, now.Histories)
	if len(g.tracks) == 0 {
		return e.ofPhase(at, earlier)
	}
	took, known := g.usual(earlier)
	if !known {
		return nil
	}
	o := outlook{graph: g, took: took, at: at}
	var late []int // under way for longer than usual
	for n, t := range g.tracks {
		if o.begun(n) && at.Sub(t.start) > took[n] {
			late = append(late, n)
		}
	}
	by := o.delay(late)
	if by < worthSaying {
		return nil
	}
	if alone := slices.DeleteFunc(slices.Clone(late), func(n int) bool { return o.delay([]int{n}) == 0 }); len(alone) > 0 {
		late = alone // without any other, the end would still be as late
	}
	return &event.Delay{Objects: g.names(late), By: by}
}

// ofPhase is by how much the phase that is under way takes longer than usual: it follows no object.
func (e *Estimate) ofPhase(at time.Time, earlier []Timeline) *event.Delay {
	took := usual(e.phase, earlier)
	if by := at.Sub(e.since) - took; took > 0 && by >= worthSaying {
		return &event.Delay{By: by}
	}
	return nil
}

// usual is how long each track took in the same phase of earlier runs, the median; one that was ready there all the time took none. False: one of
// them was never seen there.
func (g graph) usual(earlier []Timeline) ([]time.Duration, bool) {
	took, seen := map[string][]time.Duration{}, map[string]bool{}
	for _, t := range earlier {
		for _, h := range t.Histories {
			seen[h.Object.ID()] = true
		}
		for _, p := range t.Phases {
			if p.Name != g.phase.Name {
				continue
			}
			for _, track := range graphOf(p, t.Histories).tracks {
				took[track.object.ID()] = append(took[track.object.ID()], track.end.Sub(track.start))
			}
		}
	}
	all := make([]time.Duration, len(g.tracks))
	for n, t := range g.tracks {
		id := t.object.ID()
		if !seen[id] {
			return nil, false
		}
		all[n] = median(took[id])
	}
	return all, true
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

func (o outlook) underWay(n int) bool {
	s := o.tracks[n].object.State
	return s != "Ready" && s != "Deleted"
}

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
