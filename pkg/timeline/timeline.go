// Package timeline makes of the events of a run what they say together: how long each phase took, the history of each
// object, the path that decided when the run ended, and how long a run like it will take. It reads events and nothing
// else.
package timeline

import (
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// InputsField is the field of the event that ends a run which says what decides how long such a run takes.
const InputsField = "inputs"

// PhaseState is how far a phase came.
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
	Start, End  time.Time // End of a phase that has not ended is that of the timeline
	State       PhaseState
	Message     string // why it was skipped, or how it failed
}

// Elapsed is how long the phase took.
func (p Phase) Elapsed() time.Duration { return p.End.Sub(p.Start) }

// Change is one state of an object and when it was seen.
type Change struct {
	Time   time.Time
	Object event.Object
}

// History is all that was seen of one object.
type History struct {
	Object  event.Object // as it was seen last
	Changes []Change
}

// Timeline is a run, or as much of it as there is.
type Timeline struct {
	Command, Environment string
	// what decides how long such a run takes, as the run itself said at its end; empty: it did not
	Inputs     string
	Start, End time.Time // End of a run that has not ended is its last event
	Finished   bool
	Failure    *event.Failure
	Phases     []Phase
	Histories  []History // in the order in which the objects were first seen
	Warnings   []event.Event
	// Result is what the run said that one does next; nil: nothing.
	Result *event.Event
}

// Elapsed is how long the run took.
func (t Timeline) Elapsed() time.Duration { return t.End.Sub(t.Start) }

// Unready returns the objects that were not ready when they were seen last, in the order in which they were first seen.
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
		if b.open >= 0 { // nobody said how it ended
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

// timeline returns what there is so far.
func (b *builder) timeline() Timeline {
	if b.open >= 0 {
		b.run.Phases[b.open].End = b.run.End
	}
	return b.run
}
