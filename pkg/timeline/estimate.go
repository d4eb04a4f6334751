package timeline

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// mostEarlier is how many earlier runs an estimate uses. Only the last ones count, because environments change.
const mostEarlier = 5

// Estimate estimates the remaining time of a run from earlier runs. Without a comparable run there is no estimate. It
// is not safe for concurrent use.
type Estimate struct {
	earlier []Timeline
	like    bool     // whether the inputs of this run are known
	run     *builder // of this run so far
	ended   map[string]PhaseState
	start   time.Time     // of the run
	phase   string        // the one that has not ended; empty: none
	since   time.Time     // when it began
	said    time.Duration // the last estimate: it never grows
}

// EstimateFrom returns the estimate from earlier runs of the same command and environment, newest first. Unfinished and
// failed runs do not count.
func EstimateFrom(earlier []Timeline) *Estimate {
	e := &Estimate{run: newBuilder(), ended: map[string]PhaseState{}}
	for _, t := range earlier {
		if t.Finished && t.Failure == nil {
			e.earlier = append(e.earlier, t)
		}
	}
	return e
}

// Of keeps only earlier runs with the same inputs: a cluster with three machines does not predict one with thirty. If
// earlier runs have inputs, there is no estimate before Of.
func (e *Estimate) Of(inputs string) {
	e.like = true
	e.earlier = slices.DeleteFunc(e.earlier, func(t Timeline) bool { return t.Inputs != inputs })
}

// knows reports whether the remaining earlier runs are comparable to this one.
func (e *Estimate) knows() bool {
	return e.like || !slices.ContainsFunc(e.earlier, func(t Timeline) bool { return t.Inputs != "" })
}

// alike returns the newest earlier runs in which the phases so far ended in the same state. A run that resumed another
// one does not predict a new one.
func (e *Estimate) alike() []Timeline {
	var alike []Timeline
	for _, t := range e.earlier {
		same := 0
		for _, p := range t.Phases {
			if e.ended[p.Name] == p.State {
				same++
			}
		}
		if same == len(e.ended) && len(alike) < mostEarlier {
			alike = append(alike, t)
		}
	}
	return alike
}

// phaseNames returns each name of a phase in the runs once.
func phaseNames(done []Timeline) []string {
	var names []string
	for _, t := range done {
		for _, p := range t.Phases {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// usual returns the median duration of a phase in runs where it had work; zero if it never had.
func usual(name string, done []Timeline) time.Duration {
	var took []time.Duration
	for _, t := range done {
		for _, p := range t.Phases {
			if p.Name == name && p.State == Done {
				took = append(took, p.Elapsed())
			}
		}
	}
	return median(took)
}

// median returns 0 without durations. It sorts took.
func median(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return (took[(len(took)-1)/2] + took[len(took)/2]) / 2
}

// settled is the age of a run before the first estimate. Until then, there may be nothing to do.
const settled = 10 * time.Second

// Annotate takes an event of the run and returns it with the remaining time and the delay, if its type has them.
func (e *Estimate) Annotate(happened event.Event) event.Event {
	e.Emit(happened)
	if (happened.Type == event.PhaseStarted || happened.Type == event.Waiting) &&
		happened.Time.Sub(e.start) >= settled {
		happened.Remaining = e.Left(happened.Time)
	}
	if happened.Type == event.Waiting {
		happened.Delay = e.Delay(happened.Time)
		if late := happened.Delay; late != nil && late.By > happened.Remaining &&
			!e.accountsFor(*late, happened.Remaining, happened.Time) {
			happened.Remaining = 0 // late objects cannot be predicted
		}
	}
	return happened
}

// accountsFor reports whether the remaining time covers what is late: no object is late, and the usual time of the
// objects fits into it.
func (e *Estimate) accountsFor(late event.Delay, left time.Duration, at time.Time) bool {
	still := e.ofComponents(at, e.alike())
	return len(late.Objects) == 0 && still > 0 && still <= left+worthSaying
}

// Emit takes an event of the run.
func (e *Estimate) Emit(happened event.Event) {
	e.run.Emit(happened)
	switch happened.Type {
	case event.RunStarted:
		e.start = happened.Time
	case event.PhaseStarted:
		e.phase, e.since = happened.Phase, happened.Time
	case event.PhaseFinished, event.PhaseSkipped, event.PhaseFailed:
		e.ended[happened.Phase] = map[event.Type]PhaseState{event.PhaseFinished: Done, event.PhaseSkipped: Skipped,
			event.PhaseFailed: Failed}[happened.Type]
		e.phase = ""
	}
}

// patience returns how long a phase may take before earlier runs no longer predict it. took is its usual duration.
func patience(took time.Duration) time.Duration { return took + took/2 + 10*time.Second }

// ofComponents returns the remaining time of the current phase if its objects take their usual time. Zero or less means
// not known.
func (e *Estimate) ofComponents(at time.Time, alike []Timeline) time.Duration {
	if o, known := e.outlook(at, alike); known && len(o.tracks) > 0 {
		return o.end(nil).Sub(at)
	}
	return 0
}

// Left returns the remaining time of the run. Zero means not known, for example if a phase takes far longer than usual.
// The estimate never grows.
func (e *Estimate) Left(at time.Time) time.Duration {
	if !e.knows() {
		return 0
	}
	var left time.Duration
	alike := e.alike()
	for _, name := range phaseNames(alike) {
		took := usual(name, alike)
		switch {
		case e.ended[name] != "":
		case name == e.phase && at.Sub(e.since) > patience(took):
			return 0
		case name == e.phase:
			left += max(0, took-at.Sub(e.since), e.ofComponents(at, alike))
		default:
			left += took
		}
	}
	if e.said > 0 && left > e.said+e.said/near+worthSaying {
		return 0 // the last estimate is wrong, and estimates never grow
	}
	if e.said > 0 {
		left = min(left, e.said)
	}
	if left > 0 {
		e.said = left
	}
	return left
}

// near is the divisor for the tolerated excess over the last estimate: an eighth of it.
const near = 8
