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
		"refused before its phases": {[]event.Event{begun, at(event.Event{Type: event.RunFinished, Failure: failure, Elapsed: time.Second}, 1)}, 1, 1, "cluster-init up", "hint:  Set it."},
		"done":                      {[]event.Event{begun, phase, at(event.Event{Type: event.PhaseFinished, Elapsed: time.Second}, 2), at(event.Event{Type: event.RunFinished}, 2)}, 1, 0, "what there is", ""},
		"cut off in a phase":        {[]event.Event{begun, phase}, 1, 1, "what there is", "it resumes"},
		"cut off between phases":    {[]event.Event{begun, phase, at(event.Event{Type: event.PhaseFinished}, 2)}, 2, 1, "cluster-init up", "it resumes"},
		"a cause that was found": {[]event.Event{begun, phase, at(event.Event{Type: event.PhaseFailed, Failure: failure}, 2),
			at(event.Event{Type: event.Warning, Message: "cause: no disk", Fields: map[string]string{"cause": "no disk"}}, 3),
			at(event.Event{Type: event.RunFinished, Failure: failure}, 3)}, 1, 1, "what there is", "cause: no disk"},
		"nothing": {nil, 1, 1, "", "cut off"},
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
			if s.Tests != tc.tests || s.Failures != tc.failures || len(s.Cases) != tc.tests || last.Name != tc.name || !strings.Contains(last.Failure, tc.text) {
				t.Errorf("got %+v", s)
			}
		})
	}
}
