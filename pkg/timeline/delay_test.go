package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// skipped returns a run whose phases had nothing to do.
func skipped(events []event.Event) []event.Event {
	for i := range events {
		if events[i].Type == event.PhaseFinished {
			events[i].Type = event.PhaseSkipped
		}
	}
	return events
}

func TestDelay(t *testing.T) {
	const k = "Kustomization"
	// a and b take 20 s each; c follows a for 60 s, d follows b for 10 s.
	usual := []event.Event{change(0, k, "a", "Progressing"), change(0, k, "b", "Progressing"),
		change(0, k, "c", "Waiting", "a"), change(0, k, "d", "Waiting", "b"),
		change(20, k, "a", "Ready"), change(20, k, "b", "Ready"), change(20, k, "c", "Progressing"),
		change(20, k, "d", "Progressing"),
		change(30, k, "d", "Ready"), change(80, k, "c", "Ready")}
	begun := usual[:4]
	with := func(more ...event.Event) []event.Event { return append(slices.Clone(begun), more...) }
	cases := map[string]struct {
		earlier [][]event.Event
		now     []event.Event
		at      float64
		want    string
	}{
		"no earlier run": {nil, begun, 70, ""},
		"as usual":       {[][]event.Event{phase(80, usual...)}, begun, 20, ""},
		"a little later": {[][]event.Event{phase(80, usual...)}, begun, 29, ""},
		"one that others follow": {[][]event.Event{phase(80, usual...)}, with(change(20, k, "b", "Ready")), 45,
			"25s Kustomization/a"},
		"both, one has time left": {[][]event.Event{phase(80, usual...)}, begun, 45, "25s Kustomization/a"},
		"one that has time": {[][]event.Event{phase(80, usual...)},
			with(change(20, k, "a", "Ready"), change(20, k, "c", "Progressing")), 60, ""},
		"one that had time": {[][]event.Event{phase(80, usual...)},
			with(change(20, k, "a", "Ready"), change(20, k, "c", "Progressing")), 85, "15s Kustomization/b"},
		"the last ones, both": {[][]event.Event{phase(80, usual...)},
			with(change(20, k, "a", "Ready"), change(20, k, "b", "Ready"), change(20, k, "c", "Progressing"),
				change(20, k, "d", "Progressing")), 100, "20s Kustomization/c and Kustomization/d"},
		"two alike": {[][]event.Event{phase(20, change(0, k, "a", "Progressing"),
			change(0, k, "b", "Progressing"), change(20, k, "a", "Ready"), change(20, k, "b", "Ready"))}, with()[:2],
			50, "30s Kustomization/a and Kustomization/b"},
		"never seen: the phase itself": {[][]event.Event{phase(80, usual...)}, with(change(1, k, "e", "Progressing")),
			90, "10s "},
		"never seen, and it has time": {[][]event.Event{phase(80, usual...)}, with(change(1, k, "e", "Progressing")),
			85, ""},
		"ready all the time elsewhere": {[][]event.Event{phase(
			80, append(slices.Clone(usual), change(1, k, "e", "Ready"))...)}, with(change(1, k, "e", "Progressing")),
			60, ""},
		"elsewhere it had been there": {[][]event.Event{skipped(phase(80, usual...))}, begun, 70, ""},
		"one that was ready before": {[][]event.Event{phase(80, usual...)},
			with(change(20, k, "a", "Ready"), change(20, k, "b", "Ready"), change(20, k, "c", "Progressing"),
				change(60, k, "a", "Progressing")), 61, ""},
		"one without events": {[][]event.Event{phase(80, usual...)}, begun[2:3], 61, ""},
		"one of two, the other is near": {[][]event.Event{phase(80, usual...)}, with(), 120,
			"1m40s Kustomization/a and Kustomization/b"},
		"one that failed": {[][]event.Event{phase(80, usual...)},
			with(change(20, k, "b", "Ready"), change(40, k, "a", "Failed")), 45, "25s Kustomization/a"},
		"of three, the median": {[][]event.Event{phase(10, change(0, k, "a", "Progressing"),
			change(10, k, "a", "Ready")), phase(90, change(0, k, "a", "Progressing"), change(90, k, "a", "Ready")),
			phase(20, change(0, k, "a", "Progressing"), change(20, k, "a", "Ready"))}, begun[:1], 45,
			"25s Kustomization/a"},
		"nothing is followed": {[][]event.Event{phase(30)}, nil, 50, "20s "},
		"a circle": {[][]event.Event{phase(80, usual...)},
			[]event.Event{change(0, k, "a", "Waiting", "b"), change(0, k, "b", "Waiting", "a")}, 90, "10s "},
		"all that was followed is ready": {[][]event.Event{phase(80, usual...)}, usual, 120, "40s "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var earlier []timeline.Timeline
			for _, events := range tc.earlier {
				earlier = append(earlier, timeline.Of(events))
			}
			e := timeline.EstimateFrom(earlier)
			for _, happened := range phase(tc.at, tc.now...)[:len(tc.now)+2] {
				e.Emit(happened)
			}
			got := ""
			if d := e.Annotate(event.Event{Time: at(tc.at), Type: event.Waiting}).Delay; d != nil {
				got = fmt.Sprint(d.By, " ", strings.Join(d.Objects, " and "))
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// If a component is late, the components that follow it still need their usual time. The remaining time includes that.
func TestWhatIsLeftKnowsWhatIsLate(t *testing.T) {
	const k = "Kustomization"
	run := func(ready float64, more float64) []event.Event {
		return phase(ready+more, change(0, k, "a", "Progressing"), change(0, k, "b", "Waiting", "a"),
			change(ready, k, "a", "Ready"), change(ready, k, "b", "Progressing"), change(ready+more, k, "b", "Ready"))
	}
	e := timeline.EstimateFrom([]timeline.Timeline{timeline.Of(run(20, 60))})
	now := run(50, 60)
	for _, tc := range []struct {
		second float64
		left   time.Duration
	}{{10, 70 * time.Second}, {20, 60 * time.Second}, {30, 60 * time.Second}, {45, 60 * time.Second},
		{60, 50 * time.Second}, {100, 10 * time.Second}} {
		for len(now) > 0 && !now[0].Time.After(at(tc.second)) {
			e.Emit(now[0])
			now = now[1:]
		}
		if got := e.Annotate(event.Event{Time: at(tc.second), Type: event.Waiting}).Remaining; got != tc.left {
			t.Errorf("at %v s: %v left, want %v", tc.second, got, tc.left)
		}
	}
}

// The remaining time is not known while something is late by more than that time.
func TestWhatIsLateLeavesNobodyKnowing(t *testing.T) {
	e := timeline.EstimateFrom([]timeline.Timeline{took(100, 30)})
	tell(e, phases(200, 30), at(0))
	for _, tc := range []struct {
		second     float64
		left, late time.Duration
	}{{90, 40 * time.Second, 0}, {115, 30 * time.Second, 15 * time.Second}, {140, 0, 40 * time.Second}} {
		said := e.Annotate(event.Event{Time: at(tc.second), Type: event.Waiting})
		by := time.Duration(0)
		if said.Delay != nil {
			by = said.Delay.By
		}
		if said.Remaining != tc.left || by != tc.late {
			t.Errorf("at %v s: %v left, %v late", tc.second, said.Remaining, by)
		}
	}
}

// Whatever the events are, the delay is not longer than the phase so far.
func TestDelayOfAnyEvents(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		some := func() []event.Event {
			var changes []event.Event
			now := 0.0
			for range random.IntN(40) {
				now += float64(random.IntN(20))
				name := func() string { return string(rune('a' + random.IntN(5))) }
				states := []string{"Progressing", "Waiting", "Ready", "Failed", "Deleted"}
				changes = append(changes, change(now, "Kustomization", name(), states[random.IntN(len(states))], name(),
					name()))
			}
			return phase(now, changes...)
		}
		e := timeline.EstimateFrom([]timeline.Timeline{timeline.Of(some()), timeline.Of(some())})
		now := some()
		for _, happened := range now[:len(now)-2] {
			e.Emit(happened)
			if d := e.Delay(happened.Time); d != nil && (d.By < 0 || d.By > happened.Time.Sub(start())) {
				t.Fatalf("seed %d: %v at %v", seed, d, happened.Time.Sub(start()))
			}
		}
	}
}

// If one component of a recorded run takes longer, only that component delays the end.
func TestDelayOfARecordedRun(t *testing.T) {
	events := recorded(t, "testdata/up-rke2-capd.jsonl")
	e := timeline.EstimateFrom([]timeline.Timeline{timeline.Of(events)})
	for _, happened := range events {
		if o := happened.Object; o != nil && o.Kind == "Kustomization" && o.Name == "capd" && o.State == "Ready" {
			late := event.Event{Time: happened.Time.Add(time.Minute), Type: event.Waiting, Message: "x"}
			d := e.Annotate(late).Delay
			if d == nil || !slices.Equal(d.Objects, []string{"Kustomization/capd"}) || d.By < 50*time.Second ||
				d.By > 70*time.Second {
				t.Errorf("%+v", d)
			}
			return
		}
		if d := e.Annotate(happened).Delay; d != nil {
			t.Errorf("at %s something delays the end of a run that is the usual one: %+v",
				happened.Time.Format(time.TimeOnly), d)
		}
	}
	t.Fatal("capd never was ready")
}

// A wait outside of all phases, such as that of `restore`, and one between two phases.
func TestAWaitOutsideOfPhases(t *testing.T) {
	for name, begun := range map[string][]event.Event{"no phase yet": {{Time: at(0), Type: event.RunStarted}},
		"between two": phases(10, 20)[:3]} {
		t.Run(name, func(t *testing.T) {
			e := timeline.EstimateFrom([]timeline.Timeline{took(10, 20)})
			for _, happened := range begun {
				e.Emit(happened)
			}
			if said := e.Annotate(event.Event{Time: at(40), Type: event.Waiting, Message: "x"}); said.Delay != nil {
				t.Errorf("%+v", said.Delay)
			}
		})
	}
	if said := timeline.EstimateFrom(nil).Annotate(
		event.Event{Time: at(40), Type: event.Waiting, Message: "x"}); said.Delay != nil || said.Remaining != 0 {
		t.Errorf("without any earlier run: %+v", said)
	}
}
