package timeline

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// track is one object within one phase: from when it had nothing left to wait for, until it was ready or the phase
// ended.
type track struct {
	object     event.Object
	first      time.Time // when it was first seen not ready, at the earliest when the phase began
	start, end time.Time
	waitsFor   []int // the tracks that it waited for
	after      int   // the track whose end decided when it could start; -1: none
	again      bool  // it was ready in the phase and then not ready again
}

// graph is the dependency graph of one phase.
type graph struct {
	phase  Phase
	tracks []track
	parts  []History // what the tracks consist of, and what else was followed
}

// components are the kinds that wait for each other by name. If a phase follows them, their parts are on the path only
// while no component is.
var components = []string{"Kustomization", "HelmRelease", "OCIRepository", "GitRepository"}

// graphOf returns the graph of a phase: of the components that it followed, or of all that it followed if there were
// none.
func graphOf(p Phase, histories []History) graph {
	var whole, parts []History
	for _, h := range histories {
		if slices.Contains(components, h.Object.Kind) {
			whole = append(whole, h)
		} else {
			parts = append(parts, h)
		}
	}
	if g := newGraph(p, whole, parts); len(g.tracks) > 0 {
		return g
	}
	return newGraph(p, parts, nil)
}

func newGraph(p Phase, histories, parts []History) graph {
	g := graph{phase: p, parts: parts}
	var names [][]string
	for _, h := range histories {
		if t, waitsFor, moved := trackOf(p, h); moved {
			g.tracks, names = append(g.tracks, t), append(names, waitsFor)
		}
	}
	for n := range g.tracks {
		for _, name := range names[n] {
			if found := g.named(n, name); found >= 0 {
				g.tracks[n].waitsFor = append(g.tracks[n].waitsFor, found)
			}
		}
	}
	for n := range g.tracks {
		g.place(n)
	}
	return g
}

// trackOf returns what the phase saw of an object, and the names of what it waited for. False means that the object was
// always ready, or not seen.
func trackOf(p Phase, h History) (track, []string, bool) {
	t := track{object: h.Object, after: -1}
	var waitsFor []string
	seen, moved, ready := false, false, true
	for _, c := range h.Changes {
		settled := ended(c.Object)
		switch {
		case c.Time.After(p.End):
		case c.Time.Before(p.Start): // how it was when the phase began
			ready = settled
		default:
			if !seen && !ready {
				moved, t.first = true, p.Start
			}
			seen = true
			t.again = t.again || moved && ready && !settled
			if !settled && !moved {
				moved, t.first = true, c.Time
			}
			if settled && !ready || settled && t.end.IsZero() {
				t.end = c.Time
			}
			if !settled {
				t.end = time.Time{}
				waitsFor = append(waitsFor, c.Object.WaitsFor...)
			}
			ready = settled
		}
	}
	if t.end.IsZero() {
		t.end = p.End
	}
	return t, waitsFor, seen && moved
}

// ended reports whether the run no longer waits for an object.
func ended(o event.Object) bool { return o.State == "Ready" || o.State == "Deleted" }

// named returns the track of the same cluster with this name, one of the same kind first; -1: there is none.
func (g graph) named(n int, name string) int {
	found := -1
	for i, t := range g.tracks {
		if i == n || t.object.Name != name || t.object.Cluster != g.tracks[n].object.Cluster {
			continue
		}
		if t.object.Kind == g.tracks[n].object.Kind {
			return i
		}
		found = i
	}
	return found
}

// place sets when a track could start: when its named dependencies were ready. If they were ready before the track's
// first event, the time of that event counts. The dependency is then the track that became ready last before it.
func (g graph) place(n int) {
	t := &g.tracks[n]
	t.start, t.after = t.first, -1
	for _, dependency := range t.waitsFor {
		if end := g.tracks[dependency].end; end.After(t.start) && !end.After(t.end) {
			t.start, t.after = end, dependency
		}
	}
	if t.after >= 0 {
		return
	}
	for i, other := range g.tracks {
		if i != n && !other.end.After(t.first) && (t.after < 0 || other.end.After(g.tracks[t.after].end)) {
			t.after = i
		}
	}
}

// last returns the track that ended the phase: of those under way at its end the last to start, else the last to become
// ready.
func (g graph) last() int {
	last := -1
	for n, t := range g.tracks {
		if last < 0 || t.end.After(g.tracks[last].end) || t.end.Equal(g.tracks[last].end) &&
			t.start.After(g.tracks[last].start) {
			last = n
		}
	}
	return last
}

// chain returns the tracks of the critical path, the last one first.
func (g graph) chain() []int {
	if len(g.tracks) == 0 {
		return nil
	}
	var chain []int
	// two that took no time may each have come before the other
	for n := g.last(); n >= 0 && !slices.Contains(chain, n); n = g.tracks[n].after {
		chain = append(chain, n)
	}
	return chain
}

// together returns the tracks with the same start and end as the track n: any of them may have decided.
func (g graph) together(n int) []int {
	var same []int
	for i, t := range g.tracks {
		if t.start.Equal(g.tracks[n].start) && t.end.Equal(g.tracks[n].end) {
			same = append(same, i)
		}
	}
	return same
}

// critical returns the tracks of the critical path, with those that may have decided.
func (g graph) critical() map[int]bool {
	critical := map[int]bool{}
	for _, n := range g.chain() {
		for _, same := range g.together(n) {
			critical[same] = true
		}
	}
	return critical
}

// delay returns by how much earlier the phase would have ended if these tracks had taken no time.
func (g graph) delay(tracks []int) time.Duration {
	var end time.Time
	known := map[int]time.Time{}
	for n := range g.tracks {
		if e := g.without(tracks, n, known); e.After(end) {
			end = e
		}
	}
	return g.tracks[g.last()].end.Sub(end)
}

// without returns when the track m would have ended if tracks had taken no time. A track's lag behind its dependencies
// stays the same.
func (g graph) without(tracks []int, m int, known map[int]time.Time) time.Time {
	if end, done := known[m]; done {
		return end
	}
	t := g.tracks[m]
	known[m] = t.end // end of a cycle
	var was, is time.Time
	for _, before := range append(slices.Clone(t.waitsFor), t.after) {
		if before < 0 || g.tracks[before].end.After(t.start) {
			continue
		}
		if g.tracks[before].end.After(was) {
			was = g.tracks[before].end
		}
		if end := g.without(tracks, before, known); end.After(is) {
			is = end
		}
	}
	end := t.end.Add(is.Sub(was))
	if slices.Contains(tracks, m) {
		end = t.start.Add(is.Sub(was))
	}
	known[m] = end
	return end
}
