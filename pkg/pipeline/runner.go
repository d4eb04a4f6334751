package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Runner runs phases one after the other and emits events into Sink.
type Runner struct {
	Sink event.Sink
	Now  func() time.Time // injected clock
	// Heartbeat is the time without events after which a phase reports that it still runs. Some CI systems kill silent
	// jobs. Zero means never.
	Heartbeat time.Duration
	// Accepted, unless nil, is called once before the first phase that may change something.
	Accepted func()
}

// Run runs the phases in order. It stops at the first one that fails, is interrupted or runs out of its time, and
// returns that error, wrapped with the phase's name. Two phases of one name are a programming error, which is returned
// before anything runs.
func (r Runner) Run(ctx context.Context, phases []Phase) error {
	if err := checkNames(phases); err != nil {
		return err
	}
	accepted := sync.OnceFunc(func() {
		if r.Accepted != nil {
			r.Accepted()
		}
	})
	for i, p := range phases {
		if !p.Looks {
			accepted()
		}
		if err := r.phase(ctx, p, titles(phases[i+1:])); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

func checkNames(phases []Phase) error {
	seen := map[string]bool{}
	for _, p := range phases {
		if seen[p.Name] {
			return fmt.Errorf("phase %q is listed twice", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}

func titles(phases []Phase) []string {
	var all []string
	for _, p := range phases {
		all = append(all, p.Title)
	}
	return all
}

func (r Runner) phase(ctx context.Context, p Phase, ahead []string) error {
	start := r.Now()
	emit := func(e event.Event) {
		e.Time, e.Phase, e.Title = r.Now(), p.Name, p.Title
		r.Sink.Emit(e)
	}
	emit(event.Event{Type: event.PhaseStarted, Ahead: ahead})
	beat := r.startHeartbeat(p, emit)
	skipped, err := r.checkAndRun(ctx, p, beat.emit)
	beat.stop()
	elapsed := r.Now().Sub(start)
	switch {
	case err != nil:
		emit(event.Event{Type: event.PhaseFailed, Elapsed: elapsed, Failure: FailureOf(err)})
	case skipped != "":
		emit(event.Event{Type: event.PhaseSkipped, Elapsed: elapsed, Message: skipped})
	default:
		emit(event.Event{Type: event.PhaseFinished, Elapsed: elapsed})
	}
	return err
}

// checkAndRun returns why the phase was skipped, or "" if it ran.
func (r Runner) checkAndRun(ctx context.Context, p Phase, emit func(event.Event)) (string, error) {
	phaseCtx := ctx
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		phaseCtx, cancel = context.WithTimeout(ctx, p.Timeout)
		defer cancel()
	}
	if p.Check != nil {
		status, err := p.Check(phaseCtx)
		if err != nil {
			return "", r.explain(ctx, phaseCtx, p, fmt.Errorf("looking at what is there: %w", err))
		}
		if status.State == Done {
			return cmp.Or(status.Message, "nothing to do"), nil
		}
	}
	return "", r.explain(ctx, phaseCtx, p, p.Run(phaseCtx, reporter{emit: emit}))
}

// explain adds the reason to an error: the code for Ctrl-C, the cause that ended ctx, or the timeout of the phase.
func (r Runner) explain(ctx, phaseCtx context.Context, p Phase, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && OutlastsInterrupt(err):
		return err
	case ctx.Err() != nil && fault.CodeOf(context.Cause(ctx)) == fault.Timeout: // keep what it waited for
		return fault.Retryable(fmt.Errorf("%w: %w", context.Cause(ctx), err), fault.Timeout,
			fault.HintOf(context.Cause(ctx)))
	case ctx.Err() != nil && fault.CodeOf(context.Cause(ctx)) != fault.Unknown: // not ended by the user
		return context.Cause(ctx)
	case ctx.Err() != nil:
		return fault.Retryable(fmt.Errorf("interrupted: %w", err), fault.Interrupted,
			"Nothing is lost: run the same command again to resume from here.")
	case phaseCtx.Err() == nil || !errors.Is(err, context.DeadlineExceeded): // not the timeout of the phase
		return err
	case fault.CodeOf(err) != fault.Unknown: // its own code is more specific than a timeout
		return fmt.Errorf("not finished within %s: %w", p.Timeout, err)
	}
	return fault.Retryable(fmt.Errorf("not finished within %s: %w", p.Timeout, err), fault.Timeout,
		"Run the same command again to continue waiting, or give it more time: --phase-timeout "+p.Name+"=DURATION.")
}

// OutlastsInterrupt reports whether err keeps its code and hint after an interrupt: a failed move, which ignores
// signals, or a takeover by another run.
func OutlastsInterrupt(err error) bool {
	return fault.CodeOf(err) == fault.PivotFailed && !errors.Is(err, context.Canceled) ||
		fault.CodeOf(err) == fault.Busy
}

// FailureOf returns err in the form for events.
func FailureOf(err error) *event.Failure {
	if err == nil {
		return nil
	}
	return &event.Failure{
		Code:    string(fault.CodeOf(err)),
		Message: err.Error(),
		Hint:    fault.HintOf(err),
		Retry:   fault.CanRetry(err),
	}
}

type reporter struct{ emit func(event.Event) }

func (r reporter) Progress(format string, args ...any) {
	r.emit(event.Event{Type: event.Progress, Message: fmt.Sprintf(format, args...)})
}

func (r reporter) Warn(format string, args ...any) {
	r.emit(event.Event{Type: event.Warning, Message: fmt.Sprintf(format, args...)})
}

func (r reporter) Object(o event.Object) {
	r.emit(event.Event{Type: event.ObjectChanged, Object: &o})
}

func (r reporter) Waiting(what string, blocked []event.Object) {
	r.emit(event.Event{Type: event.Waiting, Message: what, Objects: blocked})
}

func (r reporter) Log(line string) {
	r.emit(event.Event{Type: event.Log, Message: line})
}
