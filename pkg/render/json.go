// Package render turns events into output for people and programs. It reads only events.
package render

import (
	"io"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// JSON writes each event as one line of JSON with its schema version.
type JSON struct {
	mu  sync.Mutex
	out io.Writer
}

// NewJSON returns a JSON view that writes to out.
func NewJSON(out io.Writer) *JSON { return &JSON{out: out} }

// Emit writes e. It drops errors of the writer, because nothing could report them.
func (j *JSON) Emit(e event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = oneline.WriteJSON(j.out, struct {
		SchemaVersion int `json:"schemaVersion"`
		event.Event
	}{event.SchemaVersion, e}, "")
}
