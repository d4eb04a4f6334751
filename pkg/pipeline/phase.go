// Package pipeline runs phases in order: it checks what is there, runs what is missing and reports as it goes.
package pipeline

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// State is the result of a phase's Check.
type State int

// The states of a phase.
const (
	Pending State = iota // Run is needed
	Done                 // nothing to do
)

// Status is the result of a Check. Message summarizes the observation.
type Status struct {
	State   State
	Message string
}

// Reporter reports progress inside a phase.
type Reporter interface {
	Progress(format string, args ...any)
	Warn(format string, args ...any)
	Object(event.Object)
	Waiting(what string, blocked []event.Object)
	Log(line string)
}

// Phase is one step of a run, as data. Check observes and never changes anything; without it, Run is always needed. Run
// may be repeated while Check returns Pending. Timeout bounds Check and Run together. Zero means no timeout.
type Phase struct {
	Name, Title string
	Timeout     time.Duration
	Looks       bool // the phase only checks: a run that ends in it was refused
	Check       func(context.Context) (Status, error)
	Run         func(context.Context, Reporter) error
	// Does returns what Run would do, for a dry run. It is nil for a phase that only checks.
	Does func() (string, error)
}

// Says returns a Does that returns text.
func Says(text string) func() (string, error) { return func() (string, error) { return text, nil } }
