package cleanup_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
)

// An owner may put a line break into the name of a resource: it must not add a line to the plan or the receipt.
func TestANameForgesNoLineOfThePlan(t *testing.T) {
	forged := "x\nleft alone:\n  server y\x1b[2K\u2028z"
	item := cleanup.Item{Where: "openstack", Kind: "server", Name: forged, ID: "1", Proof: forged}
	plan := cleanup.Plan{Cluster: "demo", Delete: []cleanup.Item{item}, Stays: []cleanup.Item{item},
		Unknown: []cleanup.NotChecked{{Kind: "port", Reason: forged}}, Refused: forged}
	receipt := cleanup.Receipt{Cluster: "demo", CouldNot: []cleanup.Result{{Item: item, Reason: forged}}}
	var shown, receipted strings.Builder
	if err := plan.Print(&shown); err != nil {
		t.Fatal(err)
	}
	if err := receipt.Print(&receipted); err != nil {
		t.Fatal(err)
	}
	for text, lines := range map[string]int{shown.String(): 6, receipted.String(): 2} {
		if strings.Count(text, "\n") != lines || strings.ContainsAny(text, "\x1b\u2028") {
			t.Errorf("%d lines, want %d:\n%s", strings.Count(text, "\n"), lines, text)
		}
	}
}
