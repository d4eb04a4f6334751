package runs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/render"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// Keeper is a Sink that keeps the events of one run. It buffers events until Begin, so that a refused run leaves
// nothing. If writing fails, events are lost and Err reports it; the run continues.
type Keeper struct {
	store Store

	mu      sync.Mutex
	early   []event.Event
	started event.Event
	redact  func(string) string
	file    *os.File
	ended   bool
	err     error
	// pruneErr is the error of deleting old runs. It does not end the recording.
	pruneErr error
}

// NewKeeper returns a Keeper for a run that will be kept in store.
func NewKeeper(store Store) *Keeper { return &Keeper{store: store} }

// Emit buffers e until Begin, and writes it after that. It closes the file after the event that ends the run.
func (k *Keeper) Emit(e event.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.ended || k.err != nil:
		return
	case k.file == nil:
		if e.Type == event.RunStarted {
			k.started = e
		}
		k.early = append(k.early, e)
		return
	}
	k.write(e)
	if e.Type == event.RunFinished {
		k.ended = true
		k.fail(k.file.Close())
	}
}

// Begin creates the file of the run, writes the buffered events, and deletes the oldest runs. redact removes secrets
// from a text.
func (k *Keeper) Begin(redact func(string) string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file != nil || k.err != nil {
		return
	}
	file, err := k.store.create(k.started.Command, k.started.Environment, k.started.Time)
	if err != nil {
		k.fail(err)
		return
	}
	k.file, k.redact = file, redact
	for _, e := range k.early {
		k.write(e)
	}
	k.early = nil
	if err := k.store.prune(); err != nil {
		k.pruneErr = fmt.Errorf("delete the oldest runs in %s: %w", k.store.Dir, err)
	}
}

// Earlier returns an estimate from the kept runs of the same command and environment as a run that begins. It ignores
// runs that cannot be read; List reports those.
func (k *Keeper) Earlier(started event.Event) *timeline.Estimate {
	list, err := k.store.List()
	if err != nil {
		return timeline.EstimateFrom(nil)
	}
	var earlier []timeline.Timeline
	for _, r := range list {
		if r.Command == started.Command && r.Of() == Of(started) {
			earlier = append(earlier, r.Timeline())
		}
	}
	return timeline.EstimateFrom(earlier)
}

// Err returns the first error of keeping the run, and the error of deleting old ones. Nil means none so far.
func (k *Keeper) Err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return errors.Join(k.err, k.pruneErr)
}

// write appends one line in a single write. It removes secrets from the texts of an event, not from the encoded line: a
// secret that is spelled like a key or a type would make the run unreadable.
func (k *Keeper) write(e event.Event) {
	if k.err != nil {
		return
	}
	var line bytes.Buffer
	render.NewJSON(&line).Emit(e.Clean(k.redact))
	_, err := k.file.Write(line.Bytes())
	k.fail(err)
}

func (k *Keeper) fail(err error) {
	if err != nil && k.err == nil {
		k.err = fmt.Errorf("keep this run in %s: %w", k.store.Dir, err)
	}
}
