// Package timeline analyses the events of a run: the duration of each phase, the history of each object, the critical
// path, and an estimate for comparable runs. It reads only events.
package timeline

import (
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// InputsField is the field of a run's last event with the inputs that determine its duration.
const InputsField = "inputs"

// PhaseState is the state of a phase.
type PhaseState string

// The states of phases.
const (
	Running PhaseState = "running" // it has not ended, or the run was interrupted in it
	Done    PhaseState = "done"
	Skipped PhaseState = "skipped"
	Failed  PhaseState = "failed"
)

// Phase is one phase of a run.
type Phase struct {
	Name, Title string
	Start, End  time.Time // without an event for its end: the start of the next phase, or the End of the timeline
	State       PhaseState
	Message     string // why it was skipped or failed
}

// Elapsed is how long the phase took.
func (p Phase) Elapsed() time.Duration { return p.End.Sub(p.Start) }

// Change is one state of an object with its time.
type Change struct {
	Time   time.Time
	Object event.Object
}

// History is the list of changes of one object.
type History struct {
	Object  event.Object // last seen state
	Changes []Change
}

// Timeline is the timeline of a run, possibly unfinished.
type Timeline struct {
	Command, Environment string
	// the inputs that determine the duration, from the last event
	Inputs     string
	Start, End time.Time // times of the first and the last event
	Finished   bool
	Failure    *event.Failure
	Phases     []Phase
	Histories  []History // in the order in which the objects were first seen
	Warnings   []event.Event
	// Result is the result event of the run, or nil.
	Result *event.Event
}

// Elapsed is how long the run took.
func (t Timeline) Elapsed() time.Duration { return t.End.Sub(t.Start) }

// Unready returns the objects whose last state is neither Ready nor Deleted, in the order of their first event.
func (t Timeline) Unready() []event.Object {
	var unready []event.Object
	for _, h := range t.Histories {
		if h.Object.State != "Ready" && h.Object.State != "Deleted" {
			unready = append(unready, h.Object)
		}
	}
	return unready
}

// Of returns the timeline of events, which are those of one run in their order.
func Of(events []event.Event) Timeline {
	b := newBuilder()
	for _, e := range events {
		b.Emit(e)
	}
	return b.timeline()
}

// builder takes the events of a run, one after the other.
type builder struct {
	run  Timeline
	open int // the phase that has not ended; -1: none
	byID map[string]int
}

func newBuilder() *builder { return &builder{open: -1, byID: map[string]int{}} }

// Emit takes e.
func (b *builder) Emit(e event.Event) {
	if b.run.Start.IsZero() {
		b.run.Start = e.Time
	}
	b.run.End = e.Time
	switch e.Type {
	case event.RunStarted:
		b.run.Command, b.run.Environment = e.Command, e.Environment
	case event.PhaseStarted:
		if b.open >= 0 { // its end has no event
			b.run.Phases[b.open].End = e.Time
		}
		b.run.Phases = append(b.run.Phases, Phase{Name: e.Phase, Title: e.Title, Start: e.Time, State: Running})
		b.open = len(b.run.Phases) - 1
	case event.PhaseFinished:
		b.endPhase(e, Done, "")
	case event.PhaseSkipped:
		b.endPhase(e, Skipped, e.Message)
	case event.PhaseFailed:
		message := ""
		if e.Failure != nil {
			message = e.Failure.Message
		}
		b.endPhase(e, Failed, message)
	case event.ObjectChanged:
		if e.Object != nil {
			b.object(e.Time, *e.Object)
		}
	case event.Warning:
		b.run.Warnings = append(b.run.Warnings, e)
	case event.Result:
		b.run.Result = &e
	case event.RunFinished:
		b.run.Inputs = e.Fields[InputsField]
		b.run.Finished, b.run.Failure = true, e.Failure
	}
}

func (b *builder) endPhase(e event.Event, state PhaseState, message string) {
	if b.open < 0 {
		return
	}
	p := &b.run.Phases[b.open]
	p.End, p.State, p.Message = e.Time, state, message
	b.open = -1
}

func (b *builder) object(at time.Time, o event.Object) {
	n, known := b.byID[o.ID()]
	if !known {
		n = len(b.run.Histories)
		b.byID[o.ID()] = n
		b.run.Histories = append(b.run.Histories, History{})
	}
	h := &b.run.Histories[n]
	h.Object, h.Changes = o, append(h.Changes, Change{Time: at, Object: o})
}

// timeline returns the timeline so far.
func (b *builder) timeline() Timeline {
	if b.open >= 0 {
		b.run.Phases[b.open].End = b.run.End
	}
	return b.run
}
