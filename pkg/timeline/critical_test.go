package timeline_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// recorded are the events of a run as `runs export` wrote them. testdata/up-rke2-capd.jsonl is of TestMatrixRKE2 at
// 55c01e5.
func recorded(t *testing.T, path string) []event.Event {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var events []event.Event
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return events
}

func start() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// line shows a segment for a test: start, end, title, and by how much it delayed the end.
func line(s timeline.Segment) string {
	return fmt.Sprintf("%6.1f %6.1f  %s; %.1f", s.Start.Sub(start()).Seconds(), s.End.Sub(start()).Seconds(), s.Title(),
		s.Delays.Seconds())
}

// isWhole fails t unless the segments follow each other without a gap, from the start of the run to its end.
func isWhole(t *testing.T, run timeline.Timeline, path []timeline.Segment) {
	t.Helper()
	at := run.Start
	for _, s := range path {
		if !s.Start.Equal(at) || s.End.Before(s.Start) {
			t.Fatalf("segment %q goes from %v to %v, the one before it ended at %v", s.Title(), s.Start.Sub(run.Start),
				s.End.Sub(run.Start), at.Sub(run.Start))
		}
		if s.Delays < 0 || s.Delays > s.Elapsed() {
			t.Errorf("segment %q takes %v and delays the end by %v", s.Title(), s.Elapsed(), s.Delays)
		}
		at = s.End
	}
	if !at.Equal(run.End) {
		t.Errorf("the path ends at %v, the run at %v", at.Sub(run.Start), run.Elapsed())
	}
}

func TestCriticalPathOfARecordedRun(t *testing.T) {
	run := timeline.Of(recorded(t, "testdata/up-rke2-capd.jsonl"))
	path := run.CriticalPath()
	isWhole(t, run, path)
	if known := timeline.Explained(path); known < 0.95 {
		t.Errorf("%.1f %% of the time is explained", 100*known)
	}
	var text strings.Builder
	for _, s := range path {
		if s.Elapsed() >= time.Second {
			fmt.Fprintf(&text, "%6.1fs of %6.1fs  %s\n", s.Delays.Seconds(), s.Elapsed().Seconds(), s.Title())
		}
	}
	golden.Check(t, "up-rke2-capd.txt", []byte(text.String()))
}

// phase returns a run of one phase, from second 0 to end, in which objects change.
func phase(end float64, changes ...event.Event) []event.Event {
	events := []event.Event{{Type: event.RunStarted}, {Type: event.PhaseStarted, Phase: "p", Title: "p"}}
	events = append(events, changes...)
	events = append(events, event.Event{Time: at(end), Type: event.PhaseFinished, Phase: "p", Title: "p"},
		event.Event{Time: at(end), Type: event.RunFinished})
	events[0].Time, events[1].Time = at(0), at(0)
	return events
}

func at(second float64) time.Time { return start().Add(time.Duration(second * float64(time.Second))) }

func change(second float64, kind, name, state string, waitsFor ...string) event.Event {
	return event.Event{Time: at(second), Type: event.ObjectChanged,
		Object: &event.Object{Cluster: "bootstrap", Kind: kind, Name: name, State: state, WaitsFor: waitsFor}}
}

func TestCriticalPathWithinAPhase(t *testing.T) {
	const k = "Kustomization"
	cases := map[string]struct {
		events []event.Event
		want   string
	}{
		"nothing is followed": {phase(10), "   0.0   10.0  p; 10.0"},
		"two in a row": {phase(10, change(1, k, "a", "Progressing"), change(1, k, "b", "Progressing", "a"),
			change(4, k, "a", "Ready"), change(9, k, "b", "Ready")),
			"   0.0    1.0  p; 1.0\n   1.0    4.0  p: Kustomization/a; 3.0\n   4.0    9.0  p: Kustomization/b; 5.0\n  " +
				" 9.0   10.0  p: nothing was seen to change; 1.0"},
		"one that another is nearly as slow as": {phase(9, change(0, k, "a", "Progressing"),
			change(0, k, "b", "Progressing"), change(0, k, "c", "Progressing", "a", "b"),
			change(4, k, "a", "Ready"), change(5, k, "b", "Ready"), change(9, k, "c", "Ready")),
			"   0.0    5.0  p: Kustomization/b; 1.0\n   5.0    9.0  p: Kustomization/c; 4.0"},
		"one that was ready for a moment": {phase(6, change(0, k, "a", "Progressing"), change(2, k, "a", "Ready"),
			change(2.5, k, "a", "Progressing"), change(6, k, "a", "Ready")),
			"   0.0    6.0  p: Kustomization/a; 6.0"},
		"one that never is ready, and one behind it": {phase(8, change(1, k, "a", "Progressing"),
			change(2, k, "b", "Progressing", "a"), change(3, k, "a", "Failed")),
			"   0.0    1.0  p; 1.0\n   1.0    8.0  p: Kustomization/a; 7.0"},
		"what was ready all the time decides nothing": {phase(5, change(1, k, "a", "Ready"),
			change(2, "Machine", "m", "Progressing"), change(5, "Machine", "m", "Ready")),
			"   0.0    2.0  p; 2.0\n   2.0    5.0  p: Machine/m; 3.0"},
		"components come before what they consist of": {phase(5, change(0, k, "a", "Progressing"),
			change(1, "Machine", "m", "Progressing"), change(5, "Machine", "m", "Ready"), change(5, k, "a", "Ready")),
			"   0.0    5.0  p: Kustomization/a; 5.0"},
		"two for the same time": {phase(5, change(0, k, "b", "Progressing"), change(0, k, "a", "Progressing"),
			change(5, k, "b", "Ready"), change(5, k, "a", "Ready")),
			"   0.0    5.0  p: Kustomization/a and Kustomization/b; 5.0"},
		"a circle": {phase(5, change(0, k, "a", "Progressing", "b"), change(0, k, "b", "Progressing", "a")),
			"   0.0    5.0  p; 5.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := timeline.Of(tc.events)
			var lines []string
			for _, s := range run.CriticalPath() {
				lines = append(lines, line(s))
			}
			isWhole(t, run, run.CriticalPath())
			if got := strings.Join(lines, "\n"); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// Whatever the events are, the path is whole and ends.
func TestCriticalPathOfAnyEvents(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		events, now := []event.Event{{Time: at(0), Type: event.RunStarted}}, 0.0
		for range random.IntN(80) {
			now += float64(random.IntN(3))
			name := func() string { return string(rune('a' + random.IntN(5))) }
			states := []string{"Progressing", "Waiting", "Ready", "Failed", "Deleted"}
			kinds := []string{"Kustomization", "Kustomization", "HelmRelease", "Machine"}
			e := change(now, kinds[random.IntN(len(kinds))], name(), states[random.IntN(len(states))], name(), name())
			switch random.IntN(12) {
			case 0:
				e = event.Event{Time: at(now), Type: event.PhaseStarted, Phase: name(), Title: name()}
			case 1:
				e = event.Event{Time: at(now), Type: event.PhaseFinished}
			}
			events = append(events, e)
		}
		run := timeline.Of(events)
		isWhole(t, run, run.CriticalPath())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
