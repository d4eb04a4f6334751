package pivot_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// What a move pauses next to the own Cluster may stay paused after a move that another machine finished. Its owner may
// also have paused it.
func TestPausedBeside(t *testing.T) {
	class, _ := fixture.Class()
	pausedClass := fixture.Set("ClusterClass", "demo", map[string]any{"cluster.x-k8s.io/paused": ""}, "metadata",
		"annotations")
	const command = "kubectl --kubeconfig '/state/kubeconfig' -n management patch "
	for name, row := range map[string]struct {
		edits []fixture.Edit
		want  []string
	}{
		"nothing":         {},
		"the own Cluster": {edits: []fixture.Edit{paused}},
		"a tenant": {edits: []fixture.Edit{tenantPaused},
			want: []string{command +
				`clusters.cluster.x-k8s.io tenant --type merge -p '{"spec":{"paused":null},"metadata":{"annotations":{"cluster.x-k8s.io/paused":null,"cluster-init.io/pivot":null}}}'`}},
		"a ClusterClass": {edits: []fixture.Edit{paused, pausedClass},
			want: []string{command +
				`clusterclasses.cluster.x-k8s.io demo --type merge -p '{"metadata":{"annotations":{"cluster.x-k8s.io/paused":null,"cluster-init.io/pivot":null}}}'`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := side{kinds: []schema.GroupVersionKind{fixture.ClassKind}, objects: append(fixture.ManagementCluster(),
				tenant(), class.DeepCopy()), edits: row.edits}.client(t)
			step, err := pivot.PausedBeside(t.Context(), c, scope)
			must(t, err)
			if got := step.Command(clusters.Side{}, clusters.Side{Kubeconfig: "/state/kubeconfig"},
				scope); got != strings.Join(row.want, "\n") || len(step.Objects) != len(row.want) {
				t.Errorf("got %v:\n%s\nwant\n%s", step.Objects, got, strings.Join(row.want, "\n"))
			}
		})
	}
}

// A move that was killed between two Clusters that it resumes has finished, and left what is marked. What a person has
// paused stays so.
func TestWhatAFinishedMoveLeftPausedIsResumed(t *testing.T) {
	for name, row := range map[string]struct {
		edits []fixture.Edit
		want  bool // that the tenant is resumed
	}{
		"a move":                      {edits: []fixture.Edit{byMove("management/mgmt")}, want: true},
		"a person":                    {},
		"the move of another":         {edits: []fixture.Edit{byMove("management/other")}},
		"a move that is not finished": {edits: []fixture.Edit{byMove("management/mgmt"), paused}},
		"a move, and the own Cluster left": {edits: []fixture.Edit{byMove("management/mgmt"),
			fixture.Set("Cluster", "mgmt", "elsewhere", "metadata", "name")}},
	} {
		t.Run(name, func(t *testing.T) {
			c := side{objects: append(fixture.ManagementCluster(), tenant()),
				edits: append(row.edits, tenantPaused)}.client(t)
			must(t, pivot.ResumeMarked(t.Context(), clusters.Side{Client: c}, scope))
			got := inNamespace(tenant())
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(got), got))
			_, stays := got.Object["spec"].(map[string]any)["paused"]
			if stays == row.want || row.want && got.GetAnnotations()["cluster-init.io/pivot"] != "" {
				t.Errorf("it is paused: %t, %v", stays, got.GetAnnotations())
			}
		})
	}
}

// byMove marks the tenant.
func byMove(value string) fixture.Edit {
	return fixture.Set("Cluster", "tenant", map[string]any{"cluster-init.io/pivot": value}, "metadata", "annotations")
}

// Once a pivot was begun a person, or a tenant, may pause what is at the source: that is neither resumed nor moved.
func TestWhatAPersonPausedSinceIsNotMoved(t *testing.T) {
	for _, kindAndName := range []string{"mgmt", "tenant"} {
		t.Run(kindAndName, func(t *testing.T) {
			r := rehearse(t)
			must(t, fixture.Create(t.Context(), r.Source.Client, fixture.Namespace, oneOf(tenant())))
			if kindAndName == "tenant" { // the move has paused its own before
				patchSource(t, r, "Cluster", "mgmt",
					`{"metadata":{"annotations":{"cluster-init.io/pivot":"management/mgmt"}},"spec":{"paused":true}}`)
				must(t, r.Source.Client.Patch(t.Context(), inNamespace(tenant()),
					client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":true}}`))))
			} else {
				patchSource(t, r, "Cluster", "mgmt", `{"spec":{"paused":true}}`)
			}
			r.flux.stands = true
			before := snapshot(t, r)
			_, err := pivot.Run(t.Context(), r.Input)
			if fault.CodeOf(err) != fault.PivotRefused ||
				!strings.Contains(err.Error(), "Cluster management/"+kindAndName+": is paused at the source") ||
				!strings.Contains(fault.HintOf(err), kindAndName+` --type merge -p '{"spec":{"paused":null}`) {
				t.Errorf("got %v, hint %s", err, fault.HintOf(err))
			}
			if after := snapshot(t, r); after != before || slices.Contains(r.steps, "move") {
				t.Errorf("it was\n%s\nand is\n%s, after %v", before, after, r.steps)
			}
		})
	}
}
