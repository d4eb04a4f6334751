// Package event holds what happens during a run as typed values. The core emits events into a Sink;
// pkg/render turns them into what a person or a program reads.
package event

import "time"

// SchemaVersion is the version of the JSON form of the events; it grows when a field changes its meaning or is removed.
const SchemaVersion = 1

// Type names what an event reports.
type Type string

// The types of events.
const (
	RunStarted    Type = "run-started"    // first event of a run; Command and Environment are set
	PhaseStarted  Type = "phase-started"  // Phase, Title
	PhaseSkipped  Type = "phase-skipped"  // the phase has nothing to do; Message says why
	PhaseFinished Type = "phase-finished" // Phase, Elapsed
	PhaseFailed   Type = "phase-failed"   // Phase, Elapsed, Failure
	Progress      Type = "progress"       // a step inside a phase; Message
	ObjectChanged Type = "object-changed" // a watched object has another state than before; Object
	// heartbeat of a wait: Message says for what, Objects what is not ready and why
	Waiting     Type = "waiting"
	Warning     Type = "warning"      // something the user should know that does not stop the run
	Log         Type = "log"          // a line of a library that the run calls; shown with --verbose only
	RunFinished Type = "run-finished" // last event of a run; Elapsed, Failure when it failed
	Result      Type = "result"       // what the user does next; Message, Fields
)

// Types are all types of events.
func Types() []Type {
	return []Type{RunStarted, PhaseStarted, PhaseSkipped, PhaseFinished, PhaseFailed, Progress, ObjectChanged, Waiting,
		Warning, Log, RunFinished, Result}
}

// Object is the state of one object in a cluster at one time.
type Object struct {
	Cluster   string   `json:"cluster"` // "bootstrap" or "management"
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	State     string   `json:"state"`             // a state of pkg/health, or Missing, Waiting, Deleted
	Reason    string   `json:"reason,omitempty"`  // the object's own reason, CamelCase
	Message   string   `json:"message,omitempty"` // the object's own message
	WaitsFor  []string `json:"waitsFor,omitempty"`
}

// ID names the object the same way in every event: cluster/kind/namespace/name.
func (o Object) ID() string { return o.Cluster + "/" + o.Kind + "/" + o.Namespace + "/" + o.Name }

// Failure is an error as JSON output and kept runs contain it.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Retry   bool   `json:"retry"`
}

// Delay says why and by how much a run takes longer than earlier runs.
type Delay struct {
	Objects []string      `json:"objects,omitempty"` // as Kind/name; none: the phase itself
	By      time.Duration `json:"nanoseconds"`
}

// Event is one thing that happened. Fields that do not belong to its Type are empty.
type Event struct {
	Time        time.Time     `json:"time"`
	Type        Type          `json:"type"`
	Command     string        `json:"command,omitempty"`
	Environment string        `json:"environment,omitempty"`
	Phase       string        `json:"phase,omitempty"`
	Title       string        `json:"title,omitempty"`
	Message     string        `json:"message,omitempty"`
	Elapsed     time.Duration `json:"elapsedNanoseconds,omitempty"`
	// Remaining is the estimated time until the end of the run, from earlier runs; of PhaseStarted and Waiting. Zero
	// means not known.
	Remaining time.Duration `json:"remainingNanoseconds,omitempty"`
	// Delay says why the run takes longer than earlier runs; of Waiting. Nil means no delay, or not known.
	Delay *Delay `json:"delay,omitempty"`
	// Ahead are the titles of the following phases, in order; of PhaseStarted.
	Ahead   []string          `json:"ahead,omitempty"`
	Object  *Object           `json:"object,omitempty"`
	Objects []Object          `json:"objects,omitempty"`
	Failure *Failure          `json:"failure,omitempty"`
	Fields  map[string]string `json:"fields,omitempty"`
}

// Sink takes events. Emit may be called from several goroutines at once and must not block for long.
type Sink interface {
	Emit(Event)
}
