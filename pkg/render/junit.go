package render

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// The JUnit form is the one that Jenkins and GitLab read: a testsuite with a testcase for each phase.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Seconds   string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr,omitempty"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Seconds string        `xml:"time,attr"`
		Skipped *junitSkipped `xml:"skipped"`
		Failure *junitFailure `xml:"failure"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the events of one run as a JUnit report, with a testcase for each phase that started. A run that was
// interrupted or failed outside of its phases has one more testcase, named after its command.
func JUnit(events []event.Event) ([]byte, error) {
	j := junit{open: -1}
	for _, e := range events {
		j.take(e)
	}
	j.close()
	content, err := xml.MarshalIndent(junitSuites{Suite: j.suite}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write a JUnit report: %w", err)
	}
	return append([]byte(xml.Header), append(content, '\n')...), nil
}

// junit builds a report.
type junit struct {
	suite   junitSuite
	command string
	class   string
	start   time.Time
	// the testcase of the open or failed phase, which later output belongs to; -1 if none
	open     int
	output   []string // since the phase began
	awaited  []event.Object
	causes   []string
	finished bool
	elapsed  time.Duration
	failure  *event.Failure // of the run
}

func (j *junit) take(e event.Event) {
	switch e.Type {
	case event.RunStarted:
		j.start, j.command = e.Time, "cluster-init "+e.Command
		j.class = strings.Trim("cluster-init."+e.Command+"."+e.Environment, ".")
		j.suite.Name, j.suite.Timestamp = strings.TrimSpace(j.command+" "+e.Environment),
			e.Time.UTC().Format("2006-01-02T15:04:05")
	case event.PhaseStarted:
		j.endPhase()
		j.suite.Cases = append(j.suite.Cases, junitCase{Class: j.class, Name: e.Title, Seconds: junitSeconds(0)})
		j.open = len(j.suite.Cases) - 1
	case event.PhaseFinished, event.PhaseSkipped, event.PhaseFailed:
		if !j.running() {
			return
		}
		c := &j.suite.Cases[j.open]
		c.Seconds = junitSeconds(e.Elapsed)
		if e.Type == event.PhaseSkipped {
			c.Skipped = &junitSkipped{e.Message}
		}
		if e.Type == event.PhaseFailed {
			c.Failure = j.failureOf(e.Failure)
			return
		}
		j.endPhase()
	case event.Progress, event.Warning:
		j.output = append(j.output, e.Message)
		if e.Fields["cause"] != "" {
			j.causes = append(j.causes, e.Message)
		}
	case event.Waiting:
		j.awaited = e.Objects
	case event.RunFinished:
		j.finished, j.elapsed, j.failure = true, e.Elapsed, e.Failure
	}
	if !j.finished && !j.start.IsZero() {
		j.elapsed = e.Time.Sub(j.start)
	}
}

// running reports whether the phase of the open testcase has not ended.
func (j *junit) running() bool { return j.open >= 0 && j.suite.Cases[j.open].Failure == nil }

// endPhase adds the output of the phase to the open testcase.
func (j *junit) endPhase() {
	if j.open >= 0 {
		j.suite.Cases[j.open].Output = strings.Join(j.output, "\n")
	}
	j.open, j.output, j.awaited = -1, nil, nil
}

func (j *junit) failureOf(f *event.Failure) *junitFailure {
	if f == nil {
		f = &event.Failure{Code: "unknown", Message: "the phase failed"}
	}
	text := failureText(*f)
	for _, o := range j.awaited {
		text += fmt.Sprintf("\nnot ready: %s/%s in the %s cluster: %s", o.Kind, o.Name, o.Cluster, whole(o))
	}
	return &junitFailure{Type: f.Code, Message: oneline.Of(f.Message, 300), Text: text}
}

// close ends the open testcase of an interrupted run, and adds one for a failure outside of phases. It appends the
// causes to the failed testcase: their events follow the end of the phase.
func (j *junit) close() {
	interrupted := &event.Failure{Code: "interrupted", Message: "the run was interrupted",
		Hint: "Run the same command again: it resumes."}
	switch {
	case !j.finished && j.running():
		j.suite.Cases[j.open].Failure = j.failureOf(interrupted)
	case !j.finished:
		j.failure = interrupted
	}
	outside := "" // output outside of phases
	if j.open < 0 {
		outside = strings.Join(j.output, "\n")
	}
	j.endPhase()
	failed := -1
	for i, c := range j.suite.Cases {
		if c.Failure != nil {
			failed = i
		}
	}
	if j.failure != nil && failed < 0 {
		failed = len(j.suite.Cases)
		j.suite.Cases = append(j.suite.Cases, junitCase{Class: j.class, Name: j.command,
			Seconds: junitSeconds(j.elapsed), Failure: j.failureOf(j.failure), Output: outside})
	}
	for _, cause := range j.causes {
		if failed >= 0 {
			j.suite.Cases[failed].Failure.Text += "\n" + cause
		}
	}
	j.suite.Tests, j.suite.Seconds = len(j.suite.Cases), junitSeconds(j.elapsed)
	for _, c := range j.suite.Cases {
		if c.Failure != nil {
			j.suite.Failures++
		}
		if c.Skipped != nil {
			j.suite.Skipped++
		}
	}
}

func junitSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
