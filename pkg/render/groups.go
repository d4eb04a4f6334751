package render

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Folding is how a CI system is told which lines belong together.
type Folding interface {
	// Begin stands directly before the line that a group is folded under.
	Begin(e event.Event) string
	// End is a line of its own.
	End(e event.Event) string
	// Failure says why a run failed in the system's own way; empty: as in all plain lines.
	Failure(run string, f event.Failure) string
}

// Grouped is Plain for the log of a CI job: each phase is a group, which is folded when one reads the log later. How a
// phase ended, and why the run failed, stands outside.
type Grouped struct {
	folding Folding

	mu    sync.Mutex
	out   io.Writer
	plain *Plain
	phase string // whose group is open; empty: none
}

// NewGrouped returns a Grouped view that writes to out.
func NewGrouped(out io.Writer, verbose bool, folding Folding) *Grouped {
	return &Grouped{folding: folding, out: out, plain: NewPlain(out, verbose)}
}

// Emit writes e, if it is one for people.
func (g *Grouped) Emit(e event.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch e.Type {
	case event.PhaseStarted:
		g.write(g.folding.Begin(e))
		g.phase = e.Phase
	case event.PhaseFinished, event.PhaseSkipped, event.PhaseFailed, event.RunFinished, event.Result:
		if g.phase != "" {
			g.write(g.folding.End(event.Event{Time: e.Time, Phase: g.phase}) + "\n")
			g.phase = ""
		}
	}
	if e.Type == event.RunFinished && e.Failure != nil {
		if text := g.folding.Failure(strings.TrimSpace("cluster-init "+e.Command+" "+e.Environment),
			*e.Failure); text != "" {
			g.write("\n" + text + "\n")
			return
		}
	}
	g.plain.Emit(e)
}

// write writes a line that the CI system is to obey, past what keeps it from obeying others.
func (g *Grouped) write(s string) {
	if commands, is := g.out.(interface{ Own(text string) error }); is {
		_ = commands.Own(s)
		return
	}
	_, _ = io.WriteString(g.out, s)
}

// GitHub folds as GitHub Actions does, and makes a failure an annotation of the run. Its rules: "Workflow commands for
// GitHub Actions".
type GitHub struct{}

// Begin begins a group.
func (GitHub) Begin(event.Event) string { return "::group::" }

// End ends it.
func (GitHub) End(event.Event) string { return "::endgroup::" }

// Failure is an error annotation. It also shows in the log.
func (GitHub) Failure(run string, f event.Failure) string {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	// What others chose may not end up in what GitHub and terminals obey: this line goes past what keeps it from that.
	title := oneline.Sprintf("%s failed (%s)", run, string(f.Code))
	return "::error title=" + property.Replace(title) + "::" + message.Replace(oneline.Lines(failureText(f)))
}

// GitLab folds as GitLab CI does. Its rules: "Custom collapsible sections".
type GitLab struct{}

// Begin begins a section, which is named after the phase.
func (GitLab) Begin(e event.Event) string {
	return fmt.Sprintf("\x1b[0Ksection_start:%d:%s[collapsed=true]\r\x1b[0K", e.Time.Unix(), sectionName(e.Phase))
}

// End ends it.
func (GitLab) End(e event.Event) string {
	return fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K", e.Time.Unix(), sectionName(e.Phase))
}

// Failure is as in all plain lines: GitLab has no form of its own.
func (GitLab) Failure(string, event.Failure) string { return "" }

// sectionName has only what GitLab allows in the name of a section.
func sectionName(phase string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, phase)
}
