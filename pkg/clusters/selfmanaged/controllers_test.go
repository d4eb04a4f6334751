package selfmanaged_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
)

// generation returns an edit that sets the generation of an object, and the one that its controller has seen; 0: it
// does not say.
func generation(kind, name string, is, observed int64) fixture.Edit {
	return func(u *unstructured.Unstructured) {
		fixture.Set(kind, name, is, "metadata", "generation")(u)
		if observed > 0 {
			fixture.Set(kind, name, observed, "status", "observedGeneration")(u)
		}
	}
}

func TestControllersHaveReconciled(t *testing.T) {
	tenant := fixture.One("Cluster", "mgmt")[0].DeepCopy()
	tenant.SetName("tenant")
	class, ofItsClass := fixture.Class()
	otherMachine := fixture.One("Machine", "mgmt-cp-a")[0].DeepCopy()
	otherMachine.SetName("tenant-cp-a")
	otherMachine.SetOwnerReferences(nil)
	otherMachine.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "tenant"})
	if err := unstructured.SetNestedField(otherMachine.Object, "tenant", "spec", "clusterName"); err != nil {
		t.Fatal(err)
	}
	pausedHere := condition("DevMachine", "mgmt-cp-a", "Paused", "True", "Cluster spec.paused is set to true")
	byUser := fixture.Set("MachineDeployment", "mgmt-md", map[string]any{"cluster.x-k8s.io/paused": ""}, "metadata",
		"annotations")
	const never, older = "has not reconciled it in this cluster yet", "latest spec yet (generation 3, it has seen 2)"
	for name, row := range map[string]struct {
		more  []*unstructured.Unstructured
		edits []fixture.Edit
		want  map[string]string // object, and a part of what is said
	}{
		"each has seen what there is": {edits: []fixture.Edit{generation("Cluster", "mgmt", 2, 2),
			generation("Machine", "mgmt-cp-a", 1, 1)}},
		"one has not looked since the move": {edits: []fixture.Edit{generation("Machine", "mgmt-cp-a", 1,
			0)}, want: map[string]string{"Machine management/mgmt-cp-a": never}},
		"one knows what was there before the resume": {edits: []fixture.Edit{generation("Cluster", "mgmt", 3, 2)},
			want: map[string]string{"Cluster management/mgmt": older}},
		"what only its owners say whose it is": {edits: []fixture.Edit{generation("KubeadmConfig",
			"mgmt-md-1-b", 1, 0)}, want: map[string]string{"KubeadmConfig management/mgmt-md-1-b": never}},
		"an infrastructure provider that says nothing": {edits: []fixture.Edit{generation("DevMachine", "mgmt-cp-a", 3,
			0)}},
		"one that says it": {edits: []fixture.Edit{generation("DevMachine", "mgmt-cp-a", 3,
			2)}, want: map[string]string{"DevMachine management/mgmt-cp-a": older}},
		"one that saw the pause only": {edits: []fixture.Edit{pausedHere},
			want: map[string]string{"DevMachine management/mgmt-cp-a": "not paused any more"}},
		"what a user paused": {edits: []fixture.Edit{byUser,
			generation("MachineDeployment", "mgmt-md", 2, 0), condition("MachineDeployment", "mgmt-md", "Paused",
				"True", "")}},
		"a Secret": {edits: []fixture.Edit{generation("Secret", "mgmt-kubeconfig",
			1, 0)}},
		"a tenant": {more: []*unstructured.Unstructured{tenant, otherMachine},
			edits: []fixture.Edit{generation("Cluster", "tenant", 2, 1), generation("Machine", "tenant-cp-a", 1, 0)}},
		"its ClusterClass": {more: []*unstructured.Unstructured{class.DeepCopy()},
			edits: []fixture.Edit{ofItsClass, generation("ClusterClass", "demo", 1, 0)},
			want:  map[string]string{"ClusterClass management/demo": never}},
		"a ClusterClass of others": {more: []*unstructured.Unstructured{class.DeepCopy()},
			edits: []fixture.Edit{generation("ClusterClass", "demo", 1, 0)}},
		"what comes first is not there yet": {
			edits: []fixture.Edit{generation("Machine", "mgmt-cp-a", 1, 0), condition("Cluster", "mgmt", "Available",
				"False", "no workers")},
			want: map[string]string{"Cluster management/mgmt": "no workers"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := selfmanaged.Check(t.Context(),
				selfManagedClient(t, append(fixture.ManagementCluster(), row.more...), row.edits...), scope, nil)
			if err != nil {
				t.Fatal(err)
			}
			unexpected := slices.ContainsFunc(got, func(u selfmanaged.Unmet) bool {
				want, expected := row.want[u.Object]
				first := name == "what comes first is not there yet"
				return !expected || !strings.Contains(u.Message, want) || !u.Waiting ||
					first == (u.Aspect == selfmanaged.AspectControllers)
			})
			if unexpected || len(got) != len(row.want) {
				t.Errorf("got  %+v\nwant %+v", got, row.want)
			}
		})
	}
}
