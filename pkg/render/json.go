// Package render turns events into what a person or a program reads. It reads events and nothing else.
package render

import (
	"io"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// JSON writes one JSON object per line and event, each with the version of its form.
type JSON struct {
	mu  sync.Mutex
	out io.Writer
}

// NewJSON returns a JSON view that writes to out.
func NewJSON(out io.Writer) *JSON { return &JSON{out: out} }

// Emit writes e. An error of the writer has no one left to hear of it and is dropped.
func (j *JSON) Emit(e event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = oneline.WriteJSON(j.out, struct {
		SchemaVersion int `json:"schemaVersion"`
		event.Event
	}{event.SchemaVersion, e}, "")
}
