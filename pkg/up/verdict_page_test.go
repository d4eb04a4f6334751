package up

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// The table of verdicts in docs/design/how-it-works.md is made from judge: go test ./pkg/up -run Page -update
func TestVerdictsOfThePage(t *testing.T) {
	columns := []struct {
		title string
		state clusters.ManagementState
	}{
		{"no kubeconfig", clusters.ManagementAbsent}, {"does not answer", clusters.ManagementSilent},
		{"another cluster", clusters.ManagementForeign}, {"holds no Cluster", clusters.ManagementEmpty},
		{"holds its Cluster", clusters.ManagementActive}, {"holds it, paused", clusters.ManagementPaused},
	}
	header := "| bootstrap cluster ↓, management cluster → |"
	for _, c := range columns {
		header += " " + c.title + " |"
	}
	var lines []string
	for _, row := range []struct {
		label  string
		states []clusters.BootstrapState // the verdicts on them are the same
		change func(*clusters.Observation)
	}{
		{"not there, or never finished", []clusters.BootstrapState{clusters.BootstrapAbsent,
			clusters.BootstrapUnfinished}, nil},
		{"answers, holds no Cluster", []clusters.BootstrapState{clusters.BootstrapEmpty}, nil},
		{"answers, emptied by a pivot", []clusters.BootstrapState{clusters.BootstrapMoved}, nil},
		{"holds the Cluster", []clusters.BootstrapState{clusters.BootstrapActive}, nil},
		{"holds it, paused", []clusters.BootstrapState{clusters.BootstrapPaused}, nil},
		{"stopped", []clusters.BootstrapState{clusters.BootstrapStopped}, nil},
		{"does not answer", []clusters.BootstrapState{clusters.BootstrapSilent}, nil},
		{"is not ours", []clusters.BootstrapState{clusters.BootstrapForeign}, nil},
		{"holds it marked by [`down`](../guides/down.md), or being deleted", []clusters.BootstrapState{
			clusters.BootstrapActive, clusters.BootstrapPaused},
			func(o *clusters.Observation) { o.Bootstrap.TeardownRequested = true }},
	} {
		var cells []string
		for _, b := range row.states {
			var ofState []string
			for _, column := range columns {
				ofState = append(ofState, verdictCell(seen(b, column.state), row.change))
			}
			if cells != nil && strings.Join(cells, "|") != strings.Join(ofState, "|") {
				t.Errorf("%s: the verdicts differ: %q and %q", row.label, cells, ofState)
			}
			cells = ofState
		}
		lines = append(lines, "| "+row.label+" | "+strings.Join(cells, " | ")+" |")
	}
	golden.Table(t, "../../docs/design/how-it-works.md", header, lines)
}

// verdictCell is a verdict in words, with the footnotes that hold for it.
func verdictCell(o clusters.Observation, change func(*clusters.Observation)) string {
	decide := func(changes ...func(*clusters.Observation)) decision {
		changed := o
		for _, apply := range append([]func(*clusters.Observation){change}, changes...) {
			if apply != nil {
				apply(&changed)
			}
		}
		return judge(changed, thisRun).decision
	}
	suspended := func(is bool) func(*clusters.Observation) {
		return func(o *clusters.Observation) { o.Bootstrap.Suspended = is }
	}
	machine := machines(provider.Machine{Name: "demo-abc"})
	building := func(o *clusters.Observation) { o.LocalEvidence.Building = true }
	unproven := func(o *clusters.Observation) { o.Management.Proven = false }
	holdsNone := func(o *clusters.Observation) { o.Management.Holds.Objects = nil }
	first := decide()
	if o.Bootstrap.State == clusters.BootstrapActive && decide(suspended(true)) == finish {
		o.Bootstrap.Suspended, first = true, finish
	}
	begins := func(d decision) bool { return d == fresh || d == beforePivot }
	var notes []string
	for _, note := range []struct {
		mark  string
		holds bool
	}{
		{"¹", begins(first) && decide(machine) == refuse},
		{"²", first == refuse && begins(decide(building)) && decide(building, unproven) == refuse},
		{"³", first == refuse && retries(o, change)},
		{"⁴", first == pivoted && o.Bootstrap.State == clusters.BootstrapPaused && decide(holdsNone) == refuse},
		{"⁵", first == finish && (decide(suspended(false)) == refuse || o.Bootstrap.State == clusters.BootstrapMoved)},
		{"⁶", first == beforePivot && decide(suspended(true)) == begun},
		{"⁷", first == beforePivot && decide(suspended(true)) == refuse && decide(unproven) == refuse},
	} {
		if note.holds {
			notes = append(notes, note.mark)
		}
	}
	word := map[decision]string{fresh: "fresh start", beforePivot: "go on", refuse: "refuse", pivoted: "pivoted",
		finish: "finish", start: "start it, look again"}[first]
	return strings.Join(append([]string{word}, notes...), " ")
}

func retries(o clusters.Observation, change func(*clusters.Observation)) bool {
	if change != nil {
		change(&o)
	}
	return judge(o, thisRun).retryable
}
