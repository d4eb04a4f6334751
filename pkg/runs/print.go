package runs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// schemaVersion is the version of the JSON documents. Additions do not change it.
const schemaVersion = 1

// List is the list of kept runs, for people and programs.
type List struct {
	Type          string      `json:"type"` // "runs"
	SchemaVersion int         `json:"schemaVersion"`
	Runs          []Recording `json:"runs"`
}

// NewList returns the List of runs.
func NewList(kept []Recording) List {
	return List{Type: "runs", SchemaVersion: schemaVersion, Runs: append([]Recording{}, kept...)}
}

// Shown is one run, for people and programs.
type Shown struct {
	Type          string `json:"type"` // "run"
	SchemaVersion int    `json:"schemaVersion"`
	Recording
}

// NewShown returns a run to print.
func NewShown(r Recording) Shown {
	return Shown{Type: "run", SchemaVersion: schemaVersion, Recording: r}
}

// Print writes one line per run.
func (l List) Print(out io.Writer) error {
	if len(l.Runs) == 0 {
		_, err := fmt.Fprintln(out, "No run is kept on this machine.")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTARTED\tTOOK\tRESULT")
	for _, r := range l.Runs {
		started, took := "-", "-"
		if !r.Started.IsZero() {
			started, took = r.Started.Format("2006-01-02 15:04:05 MST"), r.Elapsed.Round(time.Second).String()
		}
		oneline.Fprintf(table, "%s\t%s\t%s\t%s\n", r.ID, started, took, r.result())
	}
	return table.Flush()
}

// result returns the result of the run, with the code of its error or why its file cannot be read.
func (r Recording) result() string {
	switch {
	case r.Unreadable != "":
		return string(Unreadable) + ": " + r.Unreadable
	case r.Failure != nil:
		return string(r.Result) + " (" + r.Failure.Code + ")"
	}
	return string(r.Result)
}

// Print writes a summary of the run, its phases, critical path, warnings and error. If the run is not done, it adds the
// objects that were not ready at the end.
func (r Recording) Print(out io.Writer) error {
	var b strings.Builder
	oneline.Fprintf(&b, "cluster-init %s %s: %s\n", r.Command, r.Environment, r.result())
	oneline.Fprintf(&b, "started %s, took %s, %d events in %s\n", r.Started.Format(time.RFC3339),
		r.Elapsed.Round(time.Second), len(r.Events), r.Path)
	section(&b, "Phases", r.phases())
	section(&b, "Critical path", r.critical())
	section(&b, "Warnings", r.warnings())
	if r.Result != Done {
		section(&b, "Not ready at the end", r.unready())
	}
	if f := r.Failure; f != nil {
		fmt.Fprintf(&b, "\nerror: %s\n", strings.ReplaceAll(f.Message, "\n", "\n       "))
		for _, hint := range strings.FieldsFunc(f.Hint, func(c rune) bool { return c == '\n' }) {
			oneline.Fprintf(&b, "hint:  %s\n", hint)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n%s\n", title)
		for _, line := range lines {
			oneline.Fprintf(b, "  %s\n", line)
		}
	}
}

// phases returns a line for each phase that started.
func (r Recording) phases() []string {
	var lines []string
	open := -1 // the line of the phase that has not ended
	for _, e := range r.Events {
		switch e.Type {
		case event.PhaseStarted:
			open = len(lines)
			lines = append(lines, oneline.Sprintf("%8s  … %s", "", e.Title))
		case event.PhaseFinished, event.PhaseSkipped, event.PhaseFailed:
			if open < 0 {
				continue
			}
			sign := map[event.Type]string{event.PhaseFinished: "✓", event.PhaseSkipped: "✓",
				event.PhaseFailed: "✗"}[e.Type]
			lines[open] = oneline.Sprintf("%7.1fs  %s %s", e.Elapsed.Seconds(), sign, e.Title)
			if e.Type == event.PhaseSkipped {
				lines[open] = oneline.Sprintf("%8s  ✓ %s: %s", "", e.Title, e.Message)
			}
			open = -1
		}
	}
	return lines
}

// shortest is the minimum duration of a part of the critical path that gets a line.
const shortest = time.Second

// critical returns a line for each part of the critical path that took a second or more, and the explained share. A
// line names the delay of the end if that is clearly shorter than the part.
func (r Recording) critical() []string {
	path := r.Timeline().CriticalPath()
	var lines []string
	for _, s := range path {
		if s.Elapsed() < shortest {
			continue
		}
		line := oneline.Sprintf("%7.1fs  %s", s.Elapsed().Seconds(), s.Title())
		if s.Delays < s.Elapsed()-shortest {
			line += oneline.Sprintf(" (delayed the end by %.1fs)", s.Delays.Seconds())
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		lines = append(lines, oneline.Sprintf("%.1f %% of the time is explained", 100*timeline.Explained(path)))
	}
	return lines
}

func (r Recording) warnings() []string {
	var lines []string
	for _, e := range r.Events {
		if e.Type == event.Warning {
			lines = append(lines, strings.ReplaceAll(e.Message, "\n", " "))
		}
	}
	return lines
}

// unready returns a line for each object that was not ready at the end.
func (r Recording) unready() []string {
	var lines []string
	for _, o := range r.Timeline().Unready() {
		line := oneline.Sprintf("%s %s/%s: %s", o.Cluster, o.Kind, o.Name, o.State)
		if len(o.WaitsFor) > 0 {
			line += ", waits for " + strings.Join(o.WaitsFor, ", ")
		} else if o.Message != "" {
			line += ": " + strings.ReplaceAll(o.Message, "\n", " ")
		}
		lines = append(lines, line)
	}
	return lines
}
