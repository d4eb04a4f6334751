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

// reporter is the sink of a command that reports a run. It feeds the view, the kept run, and the report files.
type reporter struct {
	view       event.Sink
	kept       *runs.Keeper // nil without a state folder
	companions companionOptions

	said  event.Recorder
	known *secrecy
	began atomic.Bool // the first event was emitted
	mu    sync.Mutex
	left  *timeline.Estimate // nil before the run begins
}

// viewPatience is how long the end of a run waits for a blocked terminal or reader to take another event.
const viewPatience = 10 * time.Second

// newReporter returns the reporter of a run. begin starts to keep the run. A run never blocks on its reader.
func newReporter(view event.Sink, companions companionOptions, known *secrecy) *reporter {
	n := &reporter{view: render.NewQueue(view, viewPatience), companions: companions, known: known}
	if store, err := runStore(); err == nil { // otherwise the run fails with the same error when it needs the folder
		n.kept = runs.NewKeeper(store)
	}
	return n
}

// runStore returns the store of the user's runs.
func runStore() (runs.Store, error) {
	base, err := stateBase()
	return runs.Store{Dir: filepath.Join(base, runs.Folder)}, err
}

// Emit passes e to the view and to the kept run, without secrets and control characters. It reports errors of writing
// files before the last event.
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

// trace sends the finished run as a trace, if environment variables ask for it.
func (n *reporter) trace() error {
	if !trace.Wanted(os.Getenv) {
		return nil
	}
	// the run's own context may have ended: this has a bound
	return trace.Send(context.Background(), timeline.Of(redacted(n.said.Events(), n.fit)), Version())
}

// estimated adds the remaining time and the delay to e, if earlier runs allow an estimate.
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

// settled reports an error from before the run began like that of a failed run, in the view and the report files. After
// success without changes it only writes the files. It never reports an error twice.
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

// like sets the inputs that determine the duration, so that only comparable runs count for the estimate.
func (n *reporter) like(inputs string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.left != nil {
		n.left.Of(inputs)
	}
}

// begin keeps the run from here on, because its input is checked. It masks secrets of env and the given ones.
func (n *reporter) begin(env *environment.Environment, secrets ...string) {
	n.learn(env, secrets...)
	if n.kept != nil {
		n.kept.Begin(n.fit)
	}
}

// learn masks more secrets from here on: those of env, which may have changed, and the given ones.
func (n *reporter) learn(env *environment.Environment, secrets ...string) {
	n.known.learnOf(env)
	n.known.add(secrets...)
}
