package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

func status(s pipeline.State) func(context.Context) (pipeline.Status, error) {
	return func(context.Context) (pipeline.Status, error) {
		return pipeline.Status{State: s, Message: "seen"}, nil
	}
}

func TestARunIsAcceptedBeforeItDoesMoreThanLook(t *testing.T) {
	boom := errors.New("boom")
	for name, tc := range map[string]struct {
		refused bool
		want    []string
	}{
		"refused":  {true, []string{"look"}},
		"accepted": {false, []string{"look", "accepted", "a", "look again", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var did []string
			do := func(what string) func(context.Context, pipeline.Reporter) error {
				return func(context.Context, pipeline.Reporter) error {
					did = append(did, what)
					if tc.refused {
						return boom
					}
					return nil
				}
			}
			runner := pipeline.Runner{Sink: &event.Recorder{}, Now: time.Now,
				Accepted: func() { did = append(did, "accepted") }}
			err := runner.Run(t.Context(), []pipeline.Phase{{Name: "1", Looks: true, Run: do("look")},
				{Name: "2", Run: do("a")},
				{Name: "3", Looks: true, Run: do("look again")}, {Name: "4", Run: do("b")}})
			if !slices.Equal(did, tc.want) || errors.Is(err, boom) != tc.refused {
				t.Errorf("did %q, want %q; %v", did, tc.want, err)
			}
		})
	}
}

func TestAPhaseNamesThoseThatAreAhead(t *testing.T) {
	var said event.Recorder
	nothing := func(context.Context, pipeline.Reporter) error { return nil }
	err := pipeline.Runner{Sink: &said, Now: time.Now}.Run(t.Context(), []pipeline.Phase{
		{Name: "a", Title: "first", Run: nothing}, {Name: "b", Title: "second", Run: nothing},
		{Name: "c", Title: "third", Run: nothing}})
	var ahead []string
	for _, e := range said.Events() {
		if e.Type == event.PhaseStarted {
			ahead = append(ahead, strings.Join(e.Ahead, ","))
		}
	}
	if err != nil || !slices.Equal(ahead, []string{"second,third", "third", ""}) {
		t.Errorf("%q, %v", ahead, err)
	}
}

func TestRunnerEmitsTheExactSequence(t *testing.T) {
	boom := errors.New("boom")
	run := func(err error) func(context.Context, pipeline.Reporter) error {
		return func(_ context.Context, r pipeline.Reporter) error {
			r.Progress("step %d", 1)
			return err
		}
	}
	tests := map[string]struct {
		phases []pipeline.Phase
		want   []string
		err    error
	}{
		"done is skipped, pending runs": {
			phases: []pipeline.Phase{
				{Name: "a", Check: status(pipeline.Done), Run: run(boom)},
				{Name: "b", Check: status(pipeline.Pending), Run: run(nil)},
			},
			want: []string{"a phase-started", "a phase-skipped", "b phase-started", "b progress", "b phase-finished"},
		},
		"a failure stops the run": {
			phases: []pipeline.Phase{{Name: "a", Run: run(boom)}, {Name: "b", Run: run(nil)}},
			want:   []string{"a phase-started", "a progress", "a phase-failed"},
			err:    boom,
		},
		"two of one name run nothing": {
			phases: []pipeline.Phase{{Name: "a", Run: run(nil)}, {Name: "a", Run: run(nil)}},
			err:    errors.New("listed twice"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var rec event.Recorder
			err := pipeline.Runner{Sink: &rec, Now: time.Now}.Run(t.Context(), tc.phases)
			if (err == nil) != (tc.err == nil) || err != nil && !strings.Contains(err.Error(), tc.err.Error()) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			var got []string
			for _, e := range rec.Events() {
				got = append(got, e.Phase+" "+string(e.Type))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("events %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRunnerTellsTimeoutFromInterrupt(t *testing.T) {
	wait := func(ctx context.Context, _ pipeline.Reporter) error { <-ctx.Done(); return ctx.Err() }
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	lost, lose := context.WithCancelCause(t.Context())
	lose(fault.New(fault.Busy, "another run holds the lock", "Wait for its end."))
	tests := map[string]struct {
		ctx  context.Context
		want fault.Code
	}{
		"the phase's own bound": {t.Context(), fault.Timeout},
		"the user's Ctrl-C":     {interrupted, fault.Interrupted},
		"a lease that was lost": {lost, fault.Busy},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := pipeline.Runner{Sink: &event.Recorder{}, Now: time.Now}.
				Run(tc.ctx, []pipeline.Phase{{Name: "wait", Timeout: time.Millisecond, Run: wait}})
			if got := fault.CodeOf(unwrapPhase(err)); got != tc.want {
				t.Errorf("code %q, want %q (%v)", got, tc.want, err)
			}
			if fault.HintOf(unwrapPhase(err)) == "" {
				t.Error("no hint")
			}
		})
	}
}

// A move continues after Ctrl-C, so what became of it is what counts.
func TestAFailedMoveKeepsItsCodeAndHint(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	failed := fault.New(fault.PivotFailed, "the target refused an object", "Resume the source.")
	for name, tc := range map[string]struct {
		err  error
		code fault.Code
	}{
		"the move failed": {failed, fault.PivotFailed},
		"it had not begun": {fault.Wrap(context.Canceled, fault.PivotFailed, "Nothing was moved."),
			fault.Interrupted},
		"something else failed, by the signal": {fault.New(fault.DockerFailed, "signal: interrupt", ""),
			fault.Interrupted},
	} {
		err := pipeline.Runner{Sink: &event.Recorder{}, Now: time.Now}.Run(interrupted,
			[]pipeline.Phase{{Name: "pivot", Run: func(context.Context, pipeline.Reporter) error { return tc.err }}})
		if got := fault.CodeOf(err); got != tc.code {
			t.Errorf("%s: %s, want %s (%v)", name, got, tc.code, err)
		}
		if tc.code == fault.PivotFailed && fault.HintOf(err) != "Resume the source." {
			t.Errorf("%s: hint %q", name, fault.HintOf(err))
		}
	}
}

func TestRunnerSaysWhichTimeRanOut(t *testing.T) {
	stuck := func(ctx context.Context, _ pipeline.Reporter) error {
		<-ctx.Done()
		return fault.Wrap(fmt.Errorf("waiting: %w", ctx.Err()), fault.ComponentStuck, "look")
	}
	own := func(ctx context.Context, _ pipeline.Reporter) error {
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		<-ctx.Done()
		return fmt.Errorf("asking: %w", ctx.Err())
	}
	tests := map[string]struct {
		bound time.Duration
		run   func(context.Context, pipeline.Reporter) error
		code  fault.Code
		says  bool
	}{
		"an error with a code keeps it":       {time.Millisecond, stuck, fault.ComponentStuck, true},
		"a call's own bound is not the phase": {time.Minute, own, fault.Unknown, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := pipeline.Runner{Sink: &event.Recorder{}, Now: time.Now}.
				Run(t.Context(), []pipeline.Phase{{Name: "wait", Timeout: tc.bound, Run: tc.run}})
			if got := fault.CodeOf(err); got != tc.code {
				t.Errorf("code %q, want %q (%v)", got, tc.code, err)
			}
			if says := strings.Contains(err.Error(), "not finished within "+tc.bound.String()); says != tc.says {
				t.Errorf("%q names the phase's bound: %v, want %v", err, says, tc.says)
			}
		})
	}
}

func unwrapPhase(err error) error { return errors.Unwrap(err) }

// A bound of the whole run ends it as the user's Ctrl-C does, with its own code, and with what was waited for.
func TestTheBoundOfTheWholeRunNamesWhatWasAwaited(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	bound := fault.Retryable(errors.New("the run is not finished within 1h"), fault.Timeout, "Run it again.")
	phases := []pipeline.Phase{{Name: "one", Title: "one", Run: func(ctx context.Context, _ pipeline.Reporter) error {
		cancel(bound)
		<-ctx.Done()
		return fmt.Errorf("waiting for capi: %w", ctx.Err())
	}}}
	err := pipeline.Runner{Sink: &event.Recorder{}, Now: time.Now}.Run(ctx, phases)
	if fault.CodeOf(err) != fault.Timeout || fault.HintOf(err) != "Run it again." ||
		!strings.Contains(err.Error(), "within 1h") || !strings.Contains(err.Error(), "waiting for capi") {
		t.Errorf("got %v, code %s, hint %q", err, fault.CodeOf(err), fault.HintOf(err))
	}
}
