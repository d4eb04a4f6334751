package cli

import (
	"context"
	"io"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// dryRun reports what `up` would do. It is no run: it takes no lock and no lease, and keeps nothing.
func (o *upOptions) dryRun(ctx context.Context, name string) error {
	if files := o.output.companions.wanted(); len(files) > 0 {
		return fault.New(fault.Usage, files[0].flag+" and --dry-run do not go together",
			"A report is about a run: leave one of them out.")
	}
	if err := o.output.known(); err != nil {
		return err
	}
	ctx, release := o.bounded(ctx)
	defer release()
	ctx, leases := lease.NewSet(ctx)
	defer leases.ReleaseAll()
	b, err := o.resolve(ctx, name, event.Tee{}, leases)
	found := o.checkInput(ctx, err)
	var steps []up.Step
	if err == nil {
		run := up.New(up.Options{Subject: b.subject, Environment: b.environment, Supplies: b.supplies,
			KeepBootstrap: o.keepBootstrap,
			ConfirmedNew:  o.newCluster, AllowChanges: o.allowChanges}, b.parts)
		if _, err := pipeline.WithBounds(run.Phases(), b.bounds); err != nil {
			return err
		}
		var more []up.Finding
		if more, steps, err = run.DryRun(ctx); err != nil {
			return err
		}
		found = append(found, more...)
	}
	report := dryRunReport{Type: "dry-run", SchemaVersion: 1, Environment: name, Checks: checkLines(found),
		Phases: []phaseLine{}}
	for _, s := range steps {
		report.Phases = append(report.Phases, newPhaseLine(s))
	}
	if err := o.output.show(o.streams, report); err != nil {
		return err
	}
	err = up.ErrOf(found)
	for _, s := range steps {
		err = fault.Join(err, s.Unknown)
	}
	if err != nil {
		return reportedError{err} // the report shows it
	}
	return nil
}

// dryRunReport is the output of `up --dry-run`. Its lists are never null.
type dryRunReport struct {
	Type          string      `json:"type"` // "dry-run"
	SchemaVersion int         `json:"schemaVersion"`
	Environment   string      `json:"environment"`
	Checks        []checkLine `json:"checks"`
	Phases        []phaseLine `json:"phases"` // empty if a check has a problem
}

// phaseLine is a phase, and what it would do.
type phaseLine struct {
	Phase string `json:"phase"`
	Title string `json:"title"`
	// State is "done" (there is nothing to do), "would run" or "unknown".
	State string `json:"state"`
	// Does says what it does when it runs, Seen why there is nothing to do.
	Does    string         `json:"does"`
	Seen    string         `json:"seen,omitempty"`
	Problem *event.Failure `json:"problem,omitempty"`
}

func newPhaseLine(s up.Step) phaseLine {
	line := phaseLine{Phase: s.Phase, Title: s.Title, State: "would run", Does: s.Does, Seen: s.Seen}
	switch {
	case s.Unknown != nil:
		line.State, line.Problem = "unknown", pipeline.FailureOf(s.Unknown)
	case s.Done:
		line.State = "done"
	}
	return line
}

// Print writes the checks, and then the phases in their order.
func (r dryRunReport) Print(out io.Writer) error {
	var b strings.Builder
	writeChecks(&b, r.Checks)
	if len(r.Phases) > 0 {
		b.WriteString("\nup would now, in this order:\n")
	}
	for _, p := range r.Phases {
		switch {
		case p.Problem != nil:
			oneline.Fprintf(&b, "  ? %s\n", p.Title)
			writeFailure(&b, p.Problem)
		case p.State == "done":
			oneline.Fprintf(&b, "  - %s: nothing to do, %s\n", p.Title, p.Seen)
		default:
			oneline.Fprintf(&b, "  ● %s: %s\n", p.Title, p.Does)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
