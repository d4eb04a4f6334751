package pivot_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// pivotSide is a cluster that holds the providers and these objects.
func pivotSide(t *testing.T, kubeconfig string, objects []*unstructured.Unstructured,
	edits ...fixture.Edit) clusters.Side {
	t.Helper()
	c, err := fixture.FakeClient(fixture.SceneDefinitions())
	if err != nil {
		t.Fatal(err)
	}
	for namespace, each := range map[string][]*unstructured.Unstructured{"capi-system": fixture.Providers(),
		fixture.Namespace: objects} {
		if err := fixture.Create(t.Context(), c, namespace, each, edits...); err != nil {
			t.Fatal(err)
		}
	}
	return clusters.Side{Client: c, Kubeconfig: kubeconfig}
}

func TestPivotPlanIsShown(t *testing.T) {
	paused := fixture.Set("Cluster", fixture.Cluster, true, "spec", "paused")
	marked := fixture.Set("Cluster", fixture.Cluster, "management/mgmt", "metadata", "annotations",
		"cluster-init.io/pivot")
	everything := func() []*unstructured.Unstructured {
		return append(fixture.ManagementCluster(), fixture.Bystanders()...)
	}
	for name, tc := range map[string]struct {
		source, target []*unstructured.Unstructured
		edits          []fixture.Edit
		begun          bool
	}{
		"may-start": {source: everything()},
		"refused": {source: everything(), edits: []fixture.Edit{
			fixture.Unset("Secret", "cloud-credentials", "metadata", "labels"),
			fixture.Unset("DevMachineTemplate", "mgmt-md", "metadata", "ownerReferences"),
			fixture.Unset("ServerGroup", "mgmt-control-plane", "spec", "managedOptions"),
			fixture.Unset("Machine", "mgmt-md-1-b", "status", "nodeRef"),
		}},
		"interrupted": {source: everything()[:3], target: fixture.ManagementCluster(),
			edits: []fixture.Edit{paused, marked}, begun: true},
		"paused-by-hand": {source: everything(), target: fixture.ManagementCluster()[:3],
			edits: []fixture.Edit{paused}, begun: true},
		"paused-by-hand-on-target": {source: everything()[:3], target: append(fixture.ManagementCluster(), tenant()),
			edits: []fixture.Edit{paused, tenantPaused, byMove("management/mgmt")}, begun: true},
		"conflict": {source: everything()[:3], target: fixture.ManagementCluster()[:1], begun: true},
		"finished": {source: fixture.Bystanders(), target: fixture.ManagementCluster(), begun: true},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := pivotSide(t, "/state/bootstrap.kubeconfig", tc.source, tc.edits...),
				pivotSide(t, "/state/kubeconfig", tc.target, tc.edits...)
			preview, err := pivot.NewPreview(t.Context(), from, to, clusters.Scope{Namespace: fixture.Namespace,
				Cluster: fixture.Cluster}, tc.begun)
			if err != nil {
				t.Fatal(err)
			}
			text := &bytes.Buffer{}
			if err := preview.Print(text); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "preview/"+name+".txt", text.Bytes())
			document, err := json.MarshalIndent(preview.Document("kubeadm-capd"), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "preview/"+name+".json", append(document, '\n'))
		})
	}
}
