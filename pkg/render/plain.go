package render

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Plain writes lines for a person: relevant changes, and heartbeats with the objects that the run waits for. Each line
// has the time since the run began, except those of the result and the error.
type Plain struct {
	Verbose bool // also the lines of libraries and every message of an object

	mu    sync.Mutex
	out   io.Writer
	start time.Time

	last     map[string]string // by object: its last line
	wasReady map[string]bool
}

// NewPlain returns a Plain view that writes to out.
func NewPlain(out io.Writer, verbose bool) *Plain {
	return &Plain{out: out, Verbose: verbose, last: map[string]string{}, wasReady: map[string]bool{}}
}

// Emit writes e if it is for people.
func (p *Plain) Emit(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.start.IsZero() {
		p.start = e.Time
	}
	switch e.Type {
	case event.RunStarted:
		p.line(e, "cluster-init %s %s", e.Command, e.Environment)
	case event.PhaseStarted:
		p.line(e, "● %s", e.Title)
	case event.PhaseSkipped:
		p.line(e, "✓ %s: %s", e.Title, e.Message)
	case event.PhaseFinished:
		p.line(e, "✓ %s (%s)", e.Title, seconds(e.Elapsed))
	case event.PhaseFailed:
		p.line(e, "✗ %s (%s)", e.Title, seconds(e.Elapsed))
	case event.Progress:
		p.line(e, "    %s", e.Message)
	case event.Warning:
		p.line(e, "  ! %s", e.Message)
	case event.Waiting:
		p.waiting(e)
	case event.ObjectChanged:
		p.object(e)
	case event.Log:
		if p.Verbose {
			p.line(e, "    · %s", e.Message)
		}
	case event.Result:
		p.result(e)
	case event.RunFinished:
		p.finished(e)
	}
}

func (p *Plain) line(e event.Event, format string, args ...any) {
	for i, arg := range args {
		if said, is := arg.(string); is { // keep spaces of the format
			args[i] = oneline.Ends(said, 260)
		}
	}
	_, _ = fmt.Fprintf(p.out, "%7s  %s\n", seconds(e.Time.Sub(p.start)), fmt.Sprintf(format, args...))
}

// object writes a line if an object became ready, failed, suspended, deleting, deleted, or no longer ready. Heartbeats
// show progressing objects; --verbose shows every message.
func (p *Plain) object(e event.Event) {
	o := *e.Object
	text, before := p.news(o), p.last[o.ID()]
	if text == "" || text == before {
		return
	}
	p.last[o.ID()] = text
	p.line(e, "    %-10s %s/%s %s", o.Cluster, o.Kind, o.Name, text)
}

// news returns the text of an object's line. Empty means no line: a progressing object that was never ready has none.
func (p *Plain) news(o event.Object) string {
	moving := o.State == "Progressing" || o.State == "Waiting"
	switch {
	case p.Verbose:
		return whole(o)
	case o.State == "Ready":
		p.wasReady[o.ID()] = true
		return o.State
	case moving && p.wasReady[o.ID()]:
		return "no longer ready: " + because(o)
	case moving:
		return ""
	}
	if o.State == "Deleting" {
		return o.State // the heartbeat shows what it waits for
	}
	if o.State == "Deleted" {
		delete(p.wasReady, o.ID())
	}
	return whole(o)
}

// whole returns what an object waits for, or its state with its message.
func whole(o event.Object) string {
	switch {
	case o.State != "Ready" && len(o.WaitsFor) > 0:
		return "waits for " + strings.Join(o.WaitsFor, ", ")
	case o.Message != "":
		return o.State + ": " + o.Message
	}
	return o.State
}

// because says why an object is no longer ready, without counts that change often.
func because(o event.Object) string {
	switch {
	case len(o.WaitsFor) > 0:
		return "waits for " + strings.Join(o.WaitsFor, ", ")
	case o.Reason != "":
		return o.Reason
	}
	return strings.ToLower(o.State)
}

// mostAwaited is how many objects a heartbeat or a delay lists.
const mostAwaited = 4

// waiting writes a heartbeat. Objects that wait for nothing else come first.
func (p *Plain) waiting(e event.Event) {
	objects := slices.Clone(e.Objects)
	slices.SortStableFunc(objects, func(a, b event.Object) int { return len(a.WaitsFor) - len(b.WaitsFor) })
	var names []string
	for _, o := range objects[:min(mostAwaited, len(objects))] {
		name := o.Kind + "/" + o.Name
		switch {
		case len(o.WaitsFor) > 0:
			name += " (waits for " + strings.Join(o.WaitsFor, ", ") + ")"
		case o.Message != "":
			name += " (" + oneline.Ends(o.Message, 100) + ")"
		}
		names = append(names, name)
	}
	if left := len(objects) - mostAwaited; left > 0 {
		names = append(names, fmt.Sprintf("and %d more", left))
	}
	text := "still waiting for " + e.Message
	if e.Remaining > 0 {
		text += " (about " + e.Remaining.Round(time.Second).String() + " left)"
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	p.line(e, "  … %s", text)
	if e.Delay != nil {
		p.line(e, "    %s", later(*e.Delay))
	}
}

// later says why the run takes longer than earlier ones.
func later(d event.Delay) string {
	by := d.By.Round(time.Second).String()
	if len(d.Objects) == 0 {
		return "this takes " + by + " longer than in earlier runs"
	}
	text := by + " later than in earlier runs because of " + strings.Join(d.Objects[:min(mostAwaited, len(d.Objects))],
		" and ")
	if more := len(d.Objects) - mostAwaited; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (p *Plain) result(e event.Event) {
	_, _ = fmt.Fprintf(p.out, "\n%s\n", oneline.Lines(e.Message))
	keys := make([]string, 0, len(e.Fields))
	for k := range e.Fields {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		oneline.Fprintf(p.out, "  %s: %s\n", k, e.Fields[k])
	}
}

func (p *Plain) finished(e event.Event) {
	if e.Failure == nil {
		p.line(e, "done in %s", seconds(e.Elapsed))
		return
	}
	_, _ = fmt.Fprintf(p.out, "\nerror: %s\n", oneline.Lines(failureText(*e.Failure)))
}

// failureText returns the message and the hints, one per line. It indents further lines of the message, so that foreign
// text cannot imitate ours.
func failureText(f event.Failure) string {
	text := strings.ReplaceAll(f.Message, "\n", "\n       ")
	for _, hint := range strings.FieldsFunc(f.Hint, func(r rune) bool { return r == '\n' }) {
		text += "\nhint:  " + hint
	}
	return text
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
