package render_test

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/render"
)

// A group that is left open swallows all that comes after it, the error first.
func TestEveryGroupIsClosedBeforeItsOutcomeIsTold(t *testing.T) {
	phase := func(kind event.Type) event.Event { return event.Event{Type: kind, Phase: "a b/c", Title: "the phase"} }
	failed := event.Event{Type: event.RunFinished, Command: "up", Environment: "x",
		Failure: &event.Failure{Code: "timeout", Message: "the error", Hint: "the hint"}}
	cases := map[string][]event.Event{
		"finished":    {phase(event.PhaseStarted), phase(event.Progress), phase(event.PhaseFinished), failed},
		"skipped":     {phase(event.PhaseStarted), phase(event.PhaseSkipped), failed},
		"failed":      {phase(event.PhaseStarted), phase(event.PhaseFailed), failed},
		"interrupted": {phase(event.PhaseStarted), phase(event.Progress), failed},
		"no phase":    {failed},
	}
	systems := map[string]struct {
		folding    render.Folding
		begin, end *regexp.Regexp
	}{
		"GitHub": {render.GitHub{}, regexp.MustCompile(`(?m)^::group::`), regexp.MustCompile(`(?m)^::endgroup::$`)},
		"GitLab": {render.GitLab{}, regexp.MustCompile(`section_start:\d+:a-b-c\[collapsed=true\]\r`),
			regexp.MustCompile(`section_end:\d+:a-b-c\r`)},
	}
	for system, s := range systems {
		for name, events := range cases {
			t.Run(system+", "+name, func(t *testing.T) {
				for i := range events {
					events[i].Time = start().Add(time.Duration(i) * time.Second)
				}
				out := string(show(func(w io.Writer) event.Sink { return render.NewGrouped(w, false, s.folding) },
					events...))
				begins, ends := s.begin.FindAllStringIndex(out, -1), s.end.FindAllStringIndex(out, -1)
				if len(begins) != len(ends) || len(begins) != strings.Count(out, "● the phase") {
					t.Fatalf("%d groups begin, %d end:\n%s", len(begins), len(ends), out)
				}
				for _, outside := range []string{"✓ the phase", "✗ the phase", "the error", "the hint"} {
					if at := strings.Index(out, outside); at >= 0 && len(ends) > 0 && at < ends[len(ends)-1][0] {
						t.Errorf("%q is inside a group:\n%s", outside, out)
					}
				}
				if !strings.Contains(out, "the error") || !strings.Contains(out, "the hint") {
					t.Errorf("the error is not told:\n%s", out)
				}
			})
		}
	}
}

// Whatever a message holds, it stays one annotation, and no message becomes a command of its own.
func TestGitHubEscapes(t *testing.T) {
	e := event.Event{Time: start(), Type: event.RunFinished, Command: "up\x1b[2J", Environment: "a,b:c\u202e",
		Failure: &event.Failure{Code: "x/y\u009b", Message: "100%\r\n::set-env name=A::b", Hint: "one\ntwo"}}
	got := strings.TrimSpace(string(show(
		func(w io.Writer) event.Sink { return render.NewGrouped(w, false, render.GitHub{}) }, e)))
	const want = `::error title=cluster-init up [2J a%2Cb%3Ac failed (x/y )::100%25%0A       ::set-env name=A::b%0Ahint:  one%0Ahint:  two`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
