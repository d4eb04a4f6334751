package timeline_test

import (
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// If a component waited for two others, the one that was ready last decided. A component that was ready early is not on
// the path, and neither are its dependencies.
func TestComponentsOnTheCriticalPath(t *testing.T) {
	seen := func(seconds float64, cluster, name, state string, waitsFor ...string) event.Event {
		return event.Event{Time: at(seconds), Type: event.ObjectChanged,
			Object: &event.Object{Cluster: cluster, Kind: "Kustomization", Name: name, State: state,
				WaitsFor: waitsFor}}
	}
	run := timeline.Of([]event.Event{
		{Time: at(0), Type: event.RunStarted},
		{Time: at(0), Type: event.PhaseStarted, Phase: "a"},
		seen(1, "bootstrap", "cert-manager", "Progressing"),
		seen(1, "bootstrap", "cni", "Progressing"),
		seen(1, "bootstrap", "capi", "Waiting", "cert-manager", "cni"),
		seen(1, "bootstrap", "quick", "Waiting", "cni"),
		seen(5, "bootstrap", "cni", "Ready"),
		seen(6, "bootstrap", "quick", "Ready"),
		seen(9, "bootstrap", "cert-manager", "Ready"),
		seen(20, "bootstrap", "capi", "Ready"),
		{Time: at(20), Type: event.PhaseFinished, Phase: "a"},
		{Time: at(20), Type: event.PhaseStarted, Phase: "b"},
		seen(21, "management", "cni", "Progressing"),
		seen(21, "management", "quick", "Waiting", "cni"),
		seen(25, "management", "cni", "Ready"),
		seen(30, "management", "quick", "Ready"),
		{Time: at(30), Type: event.PhaseFinished, Phase: "b"},
		{Time: at(30), Type: event.RunFinished},
	})
	for cluster, want := range map[string][]string{
		"bootstrap":  {"capi", "capi after cert-manager", "cert-manager"},
		"management": {"cni", "quick", "quick after cni"},
		"other":      nil,
	} {
		var got []string
		nodes := run.Components(cluster)
		for _, n := range nodes {
			if n.Critical {
				got = append(got, n.Object.Name)
			}
			for _, before := range n.Followed {
				if !slices.Contains(n.WaitsFor, before) {
					t.Errorf("%s follows what it did not wait for", n.Object.Name)
				}
				got = append(got, n.Object.Name+" after "+nodes[before].Object.Name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("in the %s cluster %q, want %q", cluster, got, want)
		}
	}
}
