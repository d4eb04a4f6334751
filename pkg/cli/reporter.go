package cli

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/render"
	"github.com/cluster-init/cluster-init/pkg/runs"
	"github.com/cluster-init/cluster-init/pkg/timeline"
	"github.com/cluster-init/cluster-init/pkg/trace"
)

// reporter is the sink of a command that narrates a run: the view that the user asked for, the record of the run, and
// the files beside it.
type reporter struct {
	view       event.Sink
	kept       *runs.Keeper // nil: there is no folder for it
	companions companionOptions

	said  event.Recorder
	known *secrecy
	began atomic.Bool // a run has said that it begins
	mu    sync.Mutex
	left  *timeline.Estimate // nil: the run has not begun
}

// viewPatience is how long the end of a run waits for a terminal, or for who reads its output, to take one more event.
const viewPatience = 10 * time.Second

// newReporter returns the reporter of a run, which is kept once its begin is called. A terminal or a program that
// stops reading stops no run.
func newReporter(view event.Sink, companions companionOptions, known *secrecy) *reporter {
	n := &reporter{view: render.NewQueue(view, viewPatience), companions: companions, known: known}
	if store, err := runStore(); err == nil { // else the same error ends every run that needs a state folder
		n.kept = runs.NewKeeper(store)
	}
	return n
}

// runStore is where runs of this user are kept.
func runStore() (runs.Store, error) {
	base, err := stateBase()
	return runs.Store{Dir: filepath.Join(base, runs.Folder)}, err
}

// Emit hands e to the view and to the record, without secrets and without what a terminal obeys. What could not be
// written to a file is said before the run ends.
func (n *reporter) Emit(e event.Event) {
	e = n.estimated(e).Clean(n.fit)
	if e.Type == event.RunStarted {
		n.began.Store(true)
	}
	if len(n.companions.wanted()) > 0 || trace.Wanted(os.Getenv) {
		n.said.Emit(e)
	}
	var problems []error
	if n.kept != nil {
		n.kept.Emit(e)
		problems = append(problems, n.kept.Err())
	}
	if e.Type == event.RunFinished {
		problems = append(problems, n.companions.write(n.said.Events(), n.fit), n.trace())
		for _, err := range problems {
			if err != nil {
				n.view.Emit(event.Event{Time: time.Now(), Type: event.Warning, Message: n.fit(err.Error())})
			}
		}
	}
	n.view.Emit(e)
}

// trace sends the run that has ended as a trace, where variables ask for it.
func (n *reporter) trace() error {
	if !trace.Wanted(os.Getenv) {
		return nil
	}
	// the run's own context may have ended: this has a bound
	return trace.Send(context.Background(), timeline.Of(redacted(n.said.Events(), n.fit)), Version())
}

// estimated returns e with how long the run will still take, where earlier runs tell.
func (n *reporter) estimated(e event.Event) event.Event {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.Type == event.RunStarted && n.kept != nil {
		n.left = n.kept.Earlier(e)
	}
	if n.left == nil {
		return e
	}
	return n.left.Annotate(e)
}

// settled tells a run that ended with err before it began as one that failed does: in the view, and in the files beside
// it. One that ended well without changing anything only writes the files. What the run has said itself is not said
// again.
func (n *reporter) settled(ctx context.Context, command, environment string, err error) error {
	switch {
	case n.began.Load():
		return err
	case err != nil:
		return report(ctx, n, command, environment, func(context.Context) (outcome, error) { return outcome{}, err },
			nil)
	case len(n.companions.wanted()) == 0:
		return nil
	}
	now := time.Now()
	n.said.Emit(event.Event{Time: now, Type: event.RunStarted, Command: command, Environment: environment}.Clean(n.fit))
	n.said.Emit(event.Event{Time: now, Type: event.RunFinished, Command: command, Environment: environment}.Clean(
		n.fit))
	return n.companions.write(n.said.Events(), n.fit)
}

// fit returns a text as it may be shown and kept.
func (n *reporter) fit(text string) string { return oneline.Lines(n.known.text(text)) }

// like says what decides how long the run takes: only earlier runs with the same tell how long it will.
func (n *reporter) like(inputs string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.left != nil {
		n.left.Of(inputs)
	}
}

// begin keeps the run from here on: its input is checked, and it is alone. Secrets of env, and others that are known,
// are taken out.
func (n *reporter) begin(env *environment.Environment, secrets ...string) {
	n.learn(env, secrets...)
	if n.kept != nil {
		n.kept.Begin(n.fit)
	}
}

// learn takes out other secrets from here on: those of env, which may have changed, and others that are known.
func (n *reporter) learn(env *environment.Environment, secrets ...string) {
	n.known.learnOf(env)
	n.known.add(secrets...)
}
