package timeline

import (
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// mostEarlier is how many earlier runs an estimate is made of: the last ones, as machines and environments change.
const mostEarlier = 5

// Estimate says how long the rest of a run will take, from how long the phases of earlier runs took. Without an earlier
// run that went as this one has gone so far, it says nothing. It is not for several goroutines at once.
type Estimate struct {
	earlier []Timeline
	like    bool     // whether it is known which inputs this run has
	run     *builder // as it went so far
	ended   map[string]PhaseState
	start   time.Time     // of the run
	phase   string        // the one that has not ended; empty: none
	since   time.Time     // when it began
	said    time.Duration // what was said last: it never grows
}

// EstimateFrom returns the estimate that earlier runs of the same command and environment allow; the last one is first.
// Those that did not come to their end do not count.
func EstimateFrom(earlier []Timeline) *Estimate {
	e := &Estimate{run: newBuilder(), ended: map[string]PhaseState{}}
	for _, t := range earlier {
		if t.Finished && t.Failure == nil {
			e.earlier = append(e.earlier, t)
		}
	}
	return e
}

// Of leaves of the earlier runs those with the same inputs: a cluster of three machines says little of one of thirty.
// Where earlier runs say which inputs they had, nothing is said before Of.
func (e *Estimate) Of(inputs string) {
	e.like = true
	e.earlier = slices.DeleteFunc(e.earlier, func(t Timeline) bool { return t.Inputs != inputs })
}

// knows tells whether the earlier runs that are left are like this one, as far as they say it.
func (e *Estimate) knows() bool {
	return e.like || !slices.ContainsFunc(e.earlier, func(t Timeline) bool { return t.Inputs != "" })
}

// alike are the earlier runs that went as this one has gone so far: the same phases had something to do. One that
// resumed another says nothing of one that begins anew.
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

// phaseNames are those of the runs' phases, in the order of the last run that has them.
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

// usual is the median of how long a phase took where it had something to do; where it never had, it takes none.
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

// median of none is 0.
func median(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return (took[(len(took)-1)/2] + took[len(took)/2]) / 2
}

// settled is how old a run is before it says how long it will take: before, it may turn out that there is nothing to
// do.
const settled = 10 * time.Second

// Annotate takes an event of the run, and returns it with how long the run will still take and what delays its end, if
// it is one that says so.
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
			happened.Remaining = 0 // what is late may take as long again: nobody knows
		}
	}
	return happened
}

// accountsFor tells whether what is left of the run is known though something is late: nothing that is under way is,
// and what it still takes is a part of what is left.
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

// patience is how much longer than usual a phase may take before earlier runs say nothing of it any more.
func patience(took time.Duration) time.Duration { return took + took/2 + 10*time.Second }

// ofComponents is how long the phase that is under way still takes, if what it follows takes as long as usual from here
// on; 0: nobody knows.
func (e *Estimate) ofComponents(at time.Time, alike []Timeline) time.Duration {
	if o, known := e.outlook(at, alike); known && len(o.tracks) > 0 {
		return o.end(nil).Sub(at)
	}
	return 0
}

// Left is how long the run will still take at a time; 0: nobody knows, as when a phase takes far longer than it did, or
// far more is left than was said before. What it returns after that, too, is never more than before.
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
		return 0 // what was said is of no use any more, and what is left never grows
	}
	if e.said > 0 {
		left = min(left, e.said)
	}
	if left > 0 {
		e.said = left
	}
	return left
}

// near is by which part of what was said there may be more left, before it is not said any more.
const near = 8
