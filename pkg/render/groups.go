package render

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Folding is how a CI system groups lines.
type Folding interface {
	// Begin is printed directly before the title line of a group.
	Begin(e event.Event) string
	// End is a separate line.
	End(e event.Event) string
	// Failure returns the failure in the form of the CI system. Empty means the plain form.
	Failure(run string, f event.Failure) string
}

// Grouped is Plain for the log of a CI job. Each phase is a folded group. The results of phases and the failure of the
// run are outside of the groups.
type Grouped struct {
	folding Folding

	mu    sync.Mutex
	out   io.Writer
	plain *Plain
	phase string // of the open group; empty if none
}

// NewGrouped returns a Grouped view that writes to out.
func NewGrouped(out io.Writer, verbose bool, folding Folding) *Grouped {
	return &Grouped{folding: folding, out: out, plain: NewPlain(out, verbose)}
}

// Emit writes e if it is for people.
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

// write writes a command for the CI system. It bypasses the filter that disarms commands in foreign text.
func (g *Grouped) write(s string) {
	if commands, is := g.out.(interface{ Own(text string) error }); is {
		_ = commands.Own(s)
		return
	}
	_, _ = io.WriteString(g.out, s)
}

// GitHub writes the groups of GitHub Actions, and failures as annotations. See "Workflow commands for GitHub Actions".
type GitHub struct{}

// Begin begins a group.
func (GitHub) Begin(event.Event) string { return "::group::" }

// End ends it.
func (GitHub) End(event.Event) string { return "::endgroup::" }

// Failure returns an error annotation, which also shows in the log.
func (GitHub) Failure(run string, f event.Failure) string {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	// this line bypasses the filter, so foreign text in it is escaped here
	title := oneline.Sprintf("%s failed (%s)", run, string(f.Code))
	return "::error title=" + property.Replace(title) + "::" + message.Replace(oneline.Lines(failureText(f)))
}

// GitLab writes the groups of GitLab CI. See "Custom collapsible sections".
type GitLab struct{}

// Begin begins a section named after the phase.
func (GitLab) Begin(e event.Event) string {
	return fmt.Sprintf("\x1b[0Ksection_start:%d:%s[collapsed=true]\r\x1b[0K", e.Time.Unix(), sectionName(e.Phase))
}

// End ends it.
func (GitLab) End(e event.Event) string {
	return fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K", e.Time.Unix(), sectionName(e.Phase))
}

// Failure returns "": GitLab has no form for failures.
func (GitLab) Failure(string, event.Failure) string { return "" }

// sectionName returns a name with the characters that GitLab allows.
func sectionName(phase string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, phase)
}
