// Package pipeline runs phases in order: it checks what is there, runs what is missing and reports as it goes.
package pipeline

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// State is what a phase's Check found.
type State int

// The states of a phase.
const (
	Pending State = iota // Run is needed
	Done                 // nothing to do
)

// Status is the answer of a Check. Message says in a few words what was seen.
type Status struct {
	State   State
	Message string
}

// Reporter tells about progress inside a phase.
type Reporter interface {
	Progress(format string, args ...any)
	Warn(format string, args ...any)
	Object(event.Object)
	Waiting(what string, blocked []event.Object)
	Log(line string)
}

// Phase is one step of a run, as data. Check observes and never changes anything; Run may be repeated while Check
// says Pending. Timeout bounds Check and Run together; zero means no bound of its own.
type Phase struct {
	Name, Title string
	Timeout     time.Duration
	Looks       bool // it looks and judges: a run that ends in it was refused
	Check       func(context.Context) (Status, error)
	Run         func(context.Context, Reporter) error
}
