package render

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

//go:embed report.html
var reportPage string

// report is the data of report.html.
type report struct {
	Title, Result, Started, Took string
	Failed                       bool
	Failure                      *event.Failure
	Causes                       []map[string]string // of warnings that name one: object, cause, remedy
	Warnings                     []string
	Rows                         []reportRow
	Path                         []reportSegment
	Explained                    string
	Graphs                       []reportGraph
	Unready, Objects             []reportObject
	Summary                      string // what the user does next
}

// reportRow is a line of the timeline: a phase, or an object below one. Shares are of the run's time, in percent.
type reportRow struct {
	Label, Detail, State string
	IsObject, Critical   bool
	// its start, the time that it waited for others, and its own time
	From, Waited, Worked  template.CSS
	Took                  string
	waited, worked, began time.Duration
}

type reportSegment struct{ Took, Delays, Title string }

type reportObject struct {
	Name, Cluster, State, Text string
	Changes                    []reportChange
}

type reportChange struct{ After, State, Text string }

// Report returns the events of one run as an HTML page that needs nothing else: timeline, critical path, dependencies,
// each object's history, and causes. Nothing in it is loaded or run.
func Report(events []event.Event) ([]byte, error) {
	page, err := template.New("report").Parse(reportPage)
	if err != nil {
		return nil, fmt.Errorf("read the page of a report: %w", err)
	}
	var out bytes.Buffer
	if err := page.Execute(&out, newReport(timeline.Of(events))); err != nil {
		return nil, fmt.Errorf("write a report: %w", err)
	}
	return out.Bytes(), nil
}

func newReport(run timeline.Timeline) report {
	r := report{Title: oneline.Of("cluster-init "+run.Command+" "+run.Environment, 200),
		Started: run.Start.UTC().Format("2006-01-02 15:04:05 UTC"), Took: rounded(run.Elapsed()),
		Result: "done", Failure: run.Failure}
	switch {
	case !run.Finished:
		r.Result, r.Failed = "interrupted, or still under way", true
	case run.Failure != nil:
		r.Result, r.Failed = "failed: "+run.Failure.Code, true
	}
	for _, w := range run.Warnings {
		if w.Fields["cause"] != "" {
			r.Causes = append(r.Causes, w.Fields)
			continue
		}
		r.Warnings = append(r.Warnings, w.Message)
	}
	if run.Result != nil {
		r.Summary = run.Result.Message
	}
	r.Rows = reportRows(run)
	path := run.CriticalPath()
	for _, s := range path {
		if s.Elapsed() >= time.Second {
			r.Path = append(r.Path, reportSegment{rounded(s.Elapsed()), rounded(s.Delays), s.Title()})
		}
	}
	r.Explained = fmt.Sprintf("%.1f", 100*timeline.Explained(path))
	for _, cluster := range []string{"bootstrap", "management"} {
		if g := newReportGraph(cluster, run.Components(cluster)); len(g.Nodes) > 0 {
			r.Graphs = append(r.Graphs, g)
		}
	}
	r.Objects = reportObjects(run)
	if r.Failed {
		for _, o := range run.Unready() {
			r.Unready = append(r.Unready, newReportObject(o))
		}
	}
	return r
}

// reportRows returns the rows of the timeline: each phase, and below it the objects that it followed.
func reportRows(run timeline.Timeline) []reportRow {
	var rows []reportRow
	for _, p := range run.Phases {
		rows = append(rows, reportRow{Label: p.Title, Detail: p.Message, State: string(p.State),
			began: p.Start.Sub(run.Start), worked: p.Elapsed()})
		for _, s := range run.Spans(p) {
			rows = append(rows, reportRow{Label: s.Object.Kind + "/" + s.Object.Name, Detail: s.Object.Cluster,
				State: s.Object.State, IsObject: true, Critical: s.Critical,
				began: s.First.Sub(run.Start), waited: s.Start.Sub(s.First), worked: s.End.Sub(s.Start)})
		}
	}
	for i := range rows {
		r := &rows[i]
		r.From, r.Waited, r.Worked, r.Took = share(r.began, run), share(r.waited, run), share(r.worked, run),
			seconds(r.waited+r.worked)
	}
	return rows
}

// share returns a part of the run's time in CSS.
func share(d time.Duration, run timeline.Timeline) template.CSS {
	all := max(run.Elapsed(), time.Millisecond)
	return template.CSS(fmt.Sprintf("%.3f%%", min(100, max(0, 100*d.Seconds()/all.Seconds()))))
}

// reportObjects returns the histories of all objects.
func reportObjects(run timeline.Timeline) []reportObject {
	var all []reportObject
	for _, h := range run.Histories {
		o := newReportObject(h.Object)
		for _, c := range h.Changes {
			text := c.Object.Message
			if len(c.Object.WaitsFor) > 0 {
				text = whole(c.Object)
			}
			o.Changes = append(o.Changes, reportChange{seconds(c.Time.Sub(run.Start)), c.Object.State, text})
		}
		all = append(all, o)
	}
	return all
}

func newReportObject(o event.Object) reportObject {
	return reportObject{Name: o.Kind + "/" + o.Name, Cluster: o.Cluster, State: o.State, Text: whole(o)}
}

func rounded(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
