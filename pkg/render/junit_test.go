package render_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/render"
)

func TestJUnitOfOneRun(t *testing.T) {
	content, err := render.JUnit(run()[:20]) // to its first end
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "junit.xml", content)
}

func TestJUnitCountsWhatFailed(t *testing.T) {
	at := func(e event.Event, seconds int) event.Event {
		e.Time = start().Add(time.Duration(seconds) * time.Second)
		return e
	}
	begun := at(event.Event{Type: event.RunStarted, Command: "up", Environment: "x"}, 0)
	phase := at(event.Event{Type: event.PhaseStarted, Phase: "look", Title: "what there is"}, 1)
	failure := &event.Failure{Code: "values/invalid", Message: "no \x00 <name>", Hint: "Set it."}
	cases := map[string]struct {
		events          []event.Event
		tests, failures int
		name, text      string
	}{
		"refused before its phases": {[]event.Event{begun,
			at(event.Event{Type: event.RunFinished, Failure: failure, Elapsed: time.Second}, 1)}, 1, 1,
			"cluster-init up", "hint:  Set it."},
		"done": {[]event.Event{begun, phase,
			at(event.Event{Type: event.PhaseFinished, Elapsed: time.Second}, 2),
			at(event.Event{Type: event.RunFinished}, 2)}, 1, 0, "what there is", ""},
		"interrupted in a phase": {[]event.Event{begun, phase}, 1, 1, "what there is", "it resumes"},
		"interrupted between phases": {[]event.Event{begun, phase, at(event.Event{Type: event.PhaseFinished}, 2)}, 2, 1,
			"cluster-init up", "it resumes"},
		"a cause that was found": {[]event.Event{begun, phase,
			at(event.Event{Type: event.PhaseFailed, Failure: failure}, 2),
			at(event.Event{Type: event.Warning, Message: "cause: no disk",
				Fields: map[string]string{"cause": "no disk"}}, 3),
			at(event.Event{Type: event.RunFinished, Failure: failure}, 3)}, 1, 1, "what there is", "cause: no disk"},
		"nothing": {nil, 1, 1, "", "interrupted"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			content, err := render.JUnit(tc.events)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Suite struct {
					Tests    int `xml:"tests,attr"`
					Failures int `xml:"failures,attr"`
					Cases    []struct {
						Name    string `xml:"name,attr"`
						Failure string `xml:"failure"`
					} `xml:"testcase"`
				} `xml:"testsuite"`
			}
			if err := xml.Unmarshal(content, &got); err != nil {
				t.Fatalf("%v:\n%s", err, content)
			}
			s := got.Suite
			last := s.Cases[len(s.Cases)-1]
			if s.Tests != tc.tests || s.Failures != tc.failures || len(s.Cases) != tc.tests || last.Name != tc.name ||
				!strings.Contains(last.Failure, tc.text) {
				t.Errorf("got %+v", s)
			}
		})
	}
}

// What a run says between the failure of a phase and its own end is about that phase: what was seen of what ran out of
// time, and where it was kept.
func TestJUnitHasWhatCameAfterAFailure(t *testing.T) {
	failure := &event.Failure{Code: "component/stuck", Message: "not ready"}
	said := func(kind event.Type, message string) event.Event { return event.Event{Type: kind, Message: message} }
	begun, phase := event.Event{Type: event.RunStarted, Command: "up", Environment: "x"},
		event.Event{Type: event.PhaseStarted, Title: "components"}
	failed, over := event.Event{Type: event.PhaseFailed, Failure: failure},
		event.Event{Type: event.RunFinished, Failure: failure}
	history := said(event.Progress, "what was seen of Kustomization/capi: at 3s Failed")
	cause := event.Event{Type: event.Warning, Message: "cause: no disk", Fields: map[string]string{"cause": "no disk"}}
	for name, tc := range map[string]struct {
		events []event.Event
		cases  int
		output string // of the last testcase
		text   string // of its failure
	}{
		"after a phase": {[]event.Event{begun, phase, said(event.Progress, "before"), failed, history,
			cause, over}, 1, "before\n" + history.Message + "\ncause: no disk", "not ready\ncause: no disk"},
		"killed meanwhile": {[]event.Event{begun, phase, failed, history}, 1, history.Message, "not ready"},
		"another phase runs": {[]event.Event{begun, phase, failed, history, phase,
			said(event.Progress, "other"), {Type: event.PhaseFinished}, over}, 2, "other", ""},
		"outside of all phases":      {[]event.Event{begun, history, over}, 1, history.Message, "not ready"},
		"in a phase without its end": {[]event.Event{begun, phase, history, over}, 2, "", "not ready"},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range tc.events {
				tc.events[i].Time = start().Add(time.Duration(i) * time.Second)
			}
			content, err := render.JUnit(tc.events)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Cases []struct {
					Failure string `xml:"failure"`
					Output  string `xml:"system-out"`
				} `xml:"testsuite>testcase"`
			}
			if err := xml.Unmarshal(content, &got); err != nil {
				t.Fatal(err)
			}
			last := got.Cases[len(got.Cases)-1]
			if len(got.Cases) != tc.cases || last.Output != tc.output || last.Failure != tc.text {
				t.Errorf("%d testcases, the last %+v", len(got.Cases), last)
			}
			if tc.cases == 2 && got.Cases[0].Output != history.Message {
				t.Errorf("the first %+v", got.Cases[0])
			}
		})
	}
}
