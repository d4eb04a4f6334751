package cli

import (
	"path/filepath"
	"time"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/runs"
)

// narration is the sink of a command that narrates a run: the view that the user asked for, and the record of the run.
type narration struct {
	view event.Sink
	kept *runs.Keeper // nil: there is no folder for it
}

// newNarration returns the narration of a run, which is kept once its begin is called.
func newNarration(view event.Sink) *narration {
	store, err := runStore()
	if err != nil { // the same error ends every run that needs a state folder
		return &narration{view: view}
	}
	return &narration{view: view, kept: runs.NewKeeper(store)}
}

// runStore is where runs of this user are kept.
func runStore() (runs.Store, error) {
	base, err := stateBase()
	return runs.Store{Dir: filepath.Join(base, runs.Folder)}, err
}

// Emit hands e to the view and to the record. That the record is not whole is said before the run ends.
func (n *narration) Emit(e event.Event) {
	if n.kept != nil {
		n.kept.Emit(e)
		if err := n.kept.Err(); err != nil && e.Type == event.RunFinished {
			n.view.Emit(event.Event{Time: time.Now(), Type: event.Warning, Message: err.Error()})
		}
	}
	n.view.Emit(e)
}

// begin keeps the run from here on: its input is checked, and it is alone. Secrets of env, and others that are known, are taken out.
func (n *narration) begin(env *environment.Environment, secrets ...string) {
	if n.kept == nil {
		return
	}
	known := knownSecrets(env)
	known.Add(secrets...)
	n.kept.Begin(known.Text)
}
