//go:build e2e

package e2e

import "testing"

// forWorkload returns a component for workload clusters, in place of management clusters.
func forWorkload(component map[string]any) map[string]any {
	component["enabled"], component["namespaces"] = "workload-only", []string{"flux-system"}
	component["dependsOn"] = []string{"cluster"}
	return component
}

// componentsInWorkload makes a workload cluster with the components apps, charted and tenant, sees them in it and not
// in the management cluster, and deletes it.
func (l lab) componentsInWorkload(t *testing.T, values map[string]any) {
	t.Helper()
	in, own := []string{"--in", l.name}, workloadName+"/"+workloadName
	apply := append([]string{"workload", "apply", environmentName, "--name", workloadName, "--namespace", workloadName,
		"--bundle", l.bundle, "--values", valuesFile(t, values)}, in...)
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	inside := l.hasReadyNode(t, own)
	for name, want := range map[string]string{"apps": "second", "charted": "first", "tenant": "first"} {
		if got := inside.text(t.Context(), name); got != want {
			t.Errorf("component %s has %q in the workload cluster, want %q", name, got, want)
		}
	}
	if got := l.management(t).text(t.Context(), "tenant"); got != "" {
		t.Errorf("the management cluster has the component tenant: %q", got)
	}
	l.deleteWorkload(t, own, in)
}
