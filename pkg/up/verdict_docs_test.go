package up

import (
	"os"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// The page shows what judge does: the test compares each cell of its table, and its footnotes, with the verdict.
func TestThePageShowsTheVerdicts(t *testing.T) {
	columns := []clusters.ManagementState{clusters.ManagementAbsent, clusters.ManagementSilent,
		clusters.ManagementForeign,
		clusters.ManagementEmpty, clusters.ManagementActive, clusters.ManagementPaused}
	rows := map[string][]clusters.BootstrapState{
		"not there, or never finished": {clusters.BootstrapAbsent, clusters.BootstrapUnfinished},
		"answers, holds no Cluster":    {clusters.BootstrapEmpty},
		"answers, emptied by a pivot":  {clusters.BootstrapMoved},
		"holds the Cluster":            {clusters.BootstrapActive},
		"holds it, paused":             {clusters.BootstrapPaused},
		"stopped":                      {clusters.BootstrapStopped},
		"does not answer":              {clusters.BootstrapSilent},
		"is not ours":                  {clusters.BootstrapForeign},
	}
	for label, cells := range matrix(t) {
		if strings.HasPrefix(label, "either holds it marked by") {
			for m, mark := range map[string]func(
				*clusters.Observation){
				"bootstrap":  func(o *clusters.Observation) { o.Bootstrap.TeardownRequested = true },
				"management": func(o *clusters.Observation) { o.Management.TeardownRequested = true }} {
				o := seen(clusters.BootstrapActive, clusters.ManagementActive)
				mark(&o)
				expectCell(t, label+" in the "+m+" cluster", cells[0], o)
			}
			continue
		}
		states, known := rows[label]
		if !known {
			t.Errorf("the test does not know the row %q", label)
		}
		delete(rows, label)
		for _, b := range states {
			for i, m := range columns {
				cell := cells[i]
				if cell == "" { // the first cell stands for all
					cell = cells[0]
				}
				expectCell(t, string(b)+", "+string(m), cell, seen(b, m))
				expectFootnotes(t, b, m, cell)
			}
		}
	}
	for label := range rows {
		t.Errorf("the page has no row %q", label)
	}
}

// expectCell compares a verdict with a cell: its word, and whether a refusal is retried (³).
func expectCell(t *testing.T, where, cell string, o clusters.Observation) {
	t.Helper()
	word := strings.TrimRight(cell, " ¹²³⁴⁵⁶⁷")
	want, known := map[string]decision{"fresh start": fresh, "go on": beforePivot, "refuse": refuse, "pivoted": pivoted,
		"finish": finish, "start it, look again": start}[word]
	if strings.Contains(cell, "⁵") {
		o.Bootstrap.Suspended = true
	}
	if v := judge(o, thisRun); !known || v.decision != want || v.retryable != strings.Contains(cell, "³") {
		t.Errorf("%s: %s (asked again: %v), the page says %q", where, v.decision, v.retryable, cell)
	}
}

// expectFootnotes compares what the footnotes add with verdicts.
func expectFootnotes(t *testing.T, b clusters.BootstrapState, m clusters.ManagementState, cell string) {
	t.Helper()
	expect := func(note string, want decision, change func(*clusters.Observation)) {
		o := seen(b, m)
		change(&o)
		if v := judge(o, thisRun); strings.Contains(cell, note) && v.decision != want {
			t.Errorf("footnote %s of %s, %s: %s, want %s", note, b, m, v.decision, want)
		}
	}
	none := fresh
	if b == clusters.BootstrapEmpty {
		none = beforePivot
	}
	expect("¹", refuse, machines(provider.Machine{Name: "demo-abc"}))
	expect("²", none, func(o *clusters.Observation) { o.LocalEvidence.Building = true })
	if b != clusters.BootstrapMoved { // whose Flux is suspended by definition
		expect("⁵", refuse, func(o *clusters.Observation) { o.Bootstrap.Suspended = false })
	}
	expect("⁷", refuse, func(o *clusters.Observation) { o.Bootstrap.Suspended = true })
	expect("⁷", refuse, func(o *clusters.Observation) { o.Management.Proven = false })
	expect("²", refuse, func(o *clusters.Observation) { o.LocalEvidence.Building, o.Management.Proven = true, false })
	expect("⁴", refuse, func(o *clusters.Observation) { o.Management.Holds.Objects = nil })
	expect("⁶", begun, func(o *clusters.Observation) { o.Bootstrap.Suspended = true })
}

// matrix reads the table of docs/design/how-it-works.md: the cells of each row, by its label.
func matrix(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/design/how-it-works.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| bootstrap cluster ↓, management cluster → | no kubeconfig | does "+
		"not answer | another cluster | holds no Cluster | holds its Cluster | holds it, paused |\n")
	if !found {
		t.Fatal("the page has no such table")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string][]string{}
	for _, line := range strings.Split(table, "\n")[1:] {
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		if len(cells) != 7 {
			t.Fatalf("%q has %d cells, want 7", line, len(cells))
		}
		rows[cells[0]] = cells[1:]
	}
	return rows
}
