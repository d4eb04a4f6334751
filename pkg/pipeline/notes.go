package pipeline

import (
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// Notes is a Reporter that keeps progress and warnings, for checks without a run. It is not safe for concurrent use.
type Notes struct{ Seen, Warnings []string }

// Progress keeps a message.
func (n *Notes) Progress(format string, args ...any) {
	n.Seen = append(n.Seen, fmt.Sprintf(format, args...))
}

// Warn keeps a warning.
func (n *Notes) Warn(format string, args ...any) {
	n.Warnings = append(n.Warnings, fmt.Sprintf(format, args...))
}

// Object drops the state of an object.
func (n *Notes) Object(event.Object) {}

// Waiting drops a heartbeat.
func (n *Notes) Waiting(string, []event.Object) {}

// Log drops a line of a library.
func (n *Notes) Log(string) {}
