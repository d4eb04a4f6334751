package pivot_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// What a move pauses beside the own Cluster may be left so by one that was finished elsewhere, or be paused by its owner.
func TestPausedBeside(t *testing.T) {
	class, _ := ofClass()
	pausedClass := fixture.Set("ClusterClass", "demo", map[string]any{"cluster.x-k8s.io/paused": ""}, "metadata", "annotations")
	const command = "kubectl --kubeconfig '/state/kubeconfig' -n management patch "
	for name, row := range map[string]struct {
		edits []fixture.Edit
		want  []string
	}{
		"nothing":         {},
		"the own Cluster": {edits: []fixture.Edit{paused}},
		"a tenant":        {edits: []fixture.Edit{tenantPaused}, want: []string{command + `clusters.cluster.x-k8s.io tenant --type merge -p '{"spec":{"paused":null},"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}'`}},
		"a ClusterClass":  {edits: []fixture.Edit{paused, pausedClass}, want: []string{command + `clusterclasses.cluster.x-k8s.io demo --type merge -p '{"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}'`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := selfManagedClient(t, append(fixture.ManagementCluster(), tenant(), class.DeepCopy()), row.edits...)
			step, err := pivot.PausedBeside(t.Context(), c, scope)
			must(t, err)
			if got := step.Command(pivot.Side{}, pivot.Side{Kubeconfig: "/state/kubeconfig"}, scope); got != strings.Join(row.want, "\n") || len(step.Objects) != len(row.want) {
				t.Errorf("got %v:\n%s\nwant\n%s", step.Objects, got, strings.Join(row.want, "\n"))
			}
		})
	}
}
