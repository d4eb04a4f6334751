package timeline_test

import (
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// took returns a finished run. Its phases a, b, c took these seconds; a phase that took none had nothing to do.
func took(seconds ...float64) timeline.Timeline { return timeline.Of(phases(seconds...)) }

func phases(seconds ...float64) []event.Event {
	now := 0.0
	events := []event.Event{{Time: at(0), Type: event.RunStarted}}
	for i, s := range seconds {
		name := string(rune('a' + i))
		events = append(events, event.Event{Time: at(now), Type: event.PhaseStarted, Phase: name, Title: name})
		now += s
		end := event.Event{Time: at(now), Type: event.PhaseFinished, Phase: name, Title: name}
		if s == 0 {
			end.Type = event.PhaseSkipped
		}
		events = append(events, end)
	}
	return append(events, event.Event{Time: at(now), Type: event.RunFinished})
}

// tell passes the events of a run up to a time to an estimate.
func tell(e *timeline.Estimate, events []event.Event, until time.Time) {
	for _, happened := range events {
		if !happened.Time.After(until) {
			e.Emit(happened)
		}
	}
}

func TestEstimate(t *testing.T) {
	failed := phases(1, 1, 1)
	failed[len(failed)-1].Failure = &event.Failure{Code: "x"}
	cases := map[string]struct {
		earlier []timeline.Timeline
		now     []event.Event
		at      float64
		want    time.Duration
	}{
		"no earlier run": {nil, phases(10, 10, 10), 5, 0},
		"an earlier run that failed": {[]timeline.Timeline{timeline.Of(failed)}, phases(10, 10, 10), 5,
			0},
		"one that was interrupted": {[]timeline.Timeline{timeline.Of(phases(1, 1, 1)[:4])},
			phases(10, 10, 10), 5, 0},
		"one earlier run": {[]timeline.Timeline{took(10, 20, 30)}, phases(10, 20, 30), 15,
			45 * time.Second},
		"a phase that takes longer": {[]timeline.Timeline{took(10, 20, 30)}, phases(60, 20, 30), 20,
			50 * time.Second},
		"a phase that takes far longer":      {[]timeline.Timeline{took(10, 20, 30)}, phases(60, 20, 30), 40, 0},
		"a phase that has nothing to do now": {[]timeline.Timeline{took(10, 20, 30)}, phases(0, 20, 30), 5, 0},
		"new runs, and resumed ones": {[]timeline.Timeline{took(0, 0, 3), took(0, 0, 3),
			took(10, 20, 30)}, phases(10, 20, 30), 15, 45 * time.Second},
		"a phase that never had anything to do": {[]timeline.Timeline{took(10, 0, 30), took(10, 0, 30)},
			phases(10, 40, 30), 20, 30 * time.Second},
		"a phase that had nothing to do once": {[]timeline.Timeline{took(10, 0, 30), took(10, 20, 30)},
			phases(10, 20, 30), 10, 50 * time.Second},
		"the median": {[]timeline.Timeline{took(10, 9, 1), took(10, 1, 1),
			took(10, 5, 1)}, phases(10, 5, 1), 10, 6 * time.Second},
		"the last five": {[]timeline.Timeline{took(1), took(1), took(1), took(1), took(1),
			took(90), took(90), took(90), took(90), took(90), took(90)}, phases(1), 0, time.Second},
		"a phase that only an earlier one had": {[]timeline.Timeline{took(10), took(10, 20)}, phases(10), 5,
			25 * time.Second},
		"a phase that no earlier one had":           {[]timeline.Timeline{took(10)}, phases(10, 20), 15, 0},
		"after the end of all that was known of it": {[]timeline.Timeline{took(10)}, phases(30), 30, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := timeline.EstimateFrom(tc.earlier)
			tell(e, tc.now, at(tc.at))
			if got := e.Left(at(tc.at)); got != tc.want {
				t.Errorf("%v left, want %v", got, tc.want)
			}
		})
	}
}

func TestEstimateNeverGrows(t *testing.T) {
	e := timeline.EstimateFrom([]timeline.Timeline{took(10, 20, 30)})
	now, last := phases(5, 90, 30), time.Hour
	for second := range 125 {
		tell(e, now, at(float64(second)))
		left := e.Left(at(float64(second)))
		if left > last {
			t.Fatalf("after %d s %v are left, before it were %v", second, left, last)
		}
		if left > 0 { // else not known, because phase b takes far longer than usual
			last = left
		}
	}
	if last > 30*time.Second {
		t.Errorf("at the end %v were left", last)
	}
}

func TestAnnotate(t *testing.T) {
	earlier := []timeline.Timeline{took(8, 20, 30)}
	cases := map[string]struct {
		earlier  []timeline.Timeline
		happened event.Event
		want     time.Duration
	}{
		"a heartbeat": {earlier, event.Event{Type: event.Waiting, Time: at(18)}, 40 * time.Second},
		"a phase that begins": {earlier, event.Event{Type: event.PhaseStarted, Phase: "c", Time: at(18)},
			50 * time.Second},
		"another event":             {earlier, event.Event{Type: event.Progress, Time: at(18)}, 0},
		"a run that has just begun": {earlier, event.Event{Type: event.Waiting, Time: at(9)}, 0},
		"no earlier run":            {nil, event.Event{Type: event.Waiting, Time: at(18)}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := timeline.EstimateFrom(tc.earlier)
			tell(e, phases(8, 20, 30), at(8))
			if got := e.Annotate(tc.happened).Remaining; got != tc.want {
				t.Errorf("%v left, want %v", got, tc.want)
			}
		})
	}
}

// A run with other inputs does not predict this one, and neither does a run without inputs.
func TestEstimateOfTheSameInputs(t *testing.T) {
	for name, tc := range map[string]struct {
		inputs string
		want   time.Duration
	}{
		"three machines": {"three", 45 * time.Second},
		"one machine":    {"one", 10 * time.Second},
		"others":         {"thirty", 0},
	} {
		e := timeline.EstimateFrom([]timeline.Timeline{with("three", 10, 20, 30), with("one", 10, 3, 10),
			took(10, 90, 90)})
		tell(e, phases(10, 20, 30), at(15))
		if got := e.Left(at(15)); got != 0 {
			t.Errorf("%s: %s before anybody knew the inputs of this run", name, got)
		}
		e.Of(tc.inputs)
		if got := e.Left(at(15)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// with is took for a run with inputs.
func with(inputs string, seconds ...float64) timeline.Timeline {
	events := phases(seconds...)
	events[len(events)-1].Fields = map[string]string{timeline.InputsField: inputs}
	return timeline.Of(events)
}

// If no phase with an expected duration is left, there is no estimate. Once other runs are comparable, far more time is
// left. No estimate appears then until the remaining time is close to the last estimate.
func TestEstimateThatComesBackIsNotLonger(t *testing.T) {
	var earlier []timeline.Timeline
	for range 5 {
		earlier = append(earlier, took(10, 5)) // without phase c
	}
	e := timeline.EstimateFrom(append(earlier, took(10, 0, 60)))
	now := phases(10, 0, 60)
	tell(e, now[:3], at(10)) // a has ended
	tell(e, []event.Event{{Type: event.PhaseStarted, Phase: "b", Time: at(10)}}, at(10))
	for _, step := range []struct {
		at   float64
		want time.Duration
	}{{11, 4 * time.Second}, {16, 0}} {
		if got := e.Left(at(step.at)); got != step.want {
			t.Fatalf("at %v s %v are left, want %v", step.at, got, step.want)
		}
	}
	tell(e, []event.Event{{Type: event.PhaseSkipped, Phase: "b", Time: at(17)},
		{Type: event.PhaseStarted, Phase: "c", Time: at(17)}}, at(17))
	for _, step := range []struct {
		at   float64
		want time.Duration
	}{{17, 0}, {50, 0}, {70, 4 * time.Second}, {75, 2 * time.Second}} {
		if got := e.Left(at(step.at)); got != step.want {
			t.Errorf("at %v s %v are left, want %v", step.at, got, step.want)
		}
	}
}

// The last five runs had next to nothing to do, and this run is like the one before them. An estimate from the five is
// not kept for ever.
func TestEstimateOfOtherRunsIsNotKept(t *testing.T) {
	e, now := timeline.EstimateFrom([]timeline.Timeline{
		took(12, 0, 0, 30), took(12, 0, 0, 30), took(12, 0, 0, 30), took(12, 0, 0, 30), took(12, 0, 0, 30),
		took(12, 60, 600, 30)}), phases(12, 60, 600, 30)
	for second := 12; second < 700; second++ {
		tell(e, now, at(float64(second)))
		left, is := e.Left(at(float64(second))), time.Duration(702-second)*time.Second
		if second > 22 && left > 0 && is > left+left/8+10*time.Second {
			t.Fatalf("after %d s %v are left, it says %v", second, is, left)
		}
	}
}
