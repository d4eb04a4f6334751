package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/render"
)

// outputOptions are the flags for the output of a run or of a result.
type outputOptions struct {
	format     string
	verbose    bool
	companions companionOptions
}

// sink returns the reporter of a run, with the view that the user asked for.
func (o outputOptions) sink(s Streams) (*reporter, error) {
	view, err := o.live(s)
	if err := fault.Join(err, o.companions.check()); err != nil {
		return nil, err
	}
	return newReporter(view, o.companions, s.known), nil
}

// view returns the view that the user asked for: JSON goes to Out, plain lines go to Err.
func (o outputOptions) view(s Streams) (event.Sink, error) {
	if err := o.known(); err != nil {
		return nil, err
	}
	if o.format == "json" {
		return render.NewJSON(s.Out), nil
	}
	if f := folding(); f != nil {
		return render.NewGrouped(s.Err, o.verbose, f), nil
	}
	return render.NewPlain(s.Err, o.verbose), nil
}

// known refuses an unknown --output.
func (o outputOptions) known() error {
	if o.format == "plain" || o.format == "json" {
		return nil
	}
	return fault.New(fault.Usage, fmt.Sprintf("--output %q is not known", o.format), "Use plain or json.")
}

// show prints a result to Out: for a person, or as one line of JSON.
func (o outputOptions) show(s Streams, what interface{ Print(io.Writer) error }) error {
	var err error
	if o.format == "json" {
		err = oneline.WriteJSON(s.Out, what, "")
	} else {
		err = what.Print(s.Out)
	}
	if err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// outcome is the result of a run: a message for the user, and figures of the run.
type outcome struct {
	message string
	fields  map[string]string
	figures map[string]string
}

// report runs work between the first and the last event of a run. If work fails, it calls failed (unless nil) before it
// emits the last event.
func report(ctx context.Context, sink event.Sink, command, environment string,
	work func(context.Context) (outcome, error),
	failed func(context.Context, error, event.Event)) error {
	start := time.Now()
	sink.Emit(event.Event{Time: start, Type: event.RunStarted, Command: command, Environment: environment,
		Fields: ownFolder(environment)})
	done, err := work(ctx)
	err = interrupted(ctx, err)
	if err == nil && done.message != "" {
		sink.Emit(event.Event{Time: time.Now(), Type: event.Result, Message: done.message, Fields: done.fields})
	}
	end := time.Now()
	finished := event.Event{Time: end, Type: event.RunFinished, Command: command, Environment: environment,
		Elapsed: end.Sub(start), Failure: pipeline.FailureOf(err), Fields: done.figures}
	if err != nil && failed != nil {
		failed(ctx, err, finished)
		finished.Time = time.Now()
	}
	sink.Emit(finished)
	if err != nil {
		return reportedError{err}
	}
	return nil
}
