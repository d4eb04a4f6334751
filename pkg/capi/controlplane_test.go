package capi_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// A control plane of the older contract: its conditions say nothing of the generation that they are about, only the
// status as a whole does.
const rke2ControlPlane = `
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: RKE2ControlPlane
metadata: {name: c-control-plane, namespace: management, generation: 2}
status:
  observedGeneration: 2
  conditions:
  - {type: Available, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Ready, status: "False", severity: Warning, reason: RollingUpdateInProgress, message: Rolling 1 replicas}
`

func TestReadControlPlaneOfTheOlderContract(t *testing.T) {
	rows := map[string]struct {
		observed  int64
		available string
		want      bool
	}{
		"available":                       {2, "True", true},
		"available, as of an older spec":  {1, "True", false},
		"not available":                   {2, "False", false},
		"not available, of an older spec": {1, "False", false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(rke2ControlPlane), &u.Object); err != nil {
				t.Fatal(err)
			}
			conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
			conditions[0].(map[string]any)["status"] = row.available
			u.Object["status"].(map[string]any)["conditions"] = conditions
			u.Object["status"].(map[string]any)["observedGeneration"] = row.observed

			kind := schema.FromAPIVersionAndKind(u.GetAPIVersion(), u.GetKind())
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{kind.GroupVersion()})
			mapper.Add(kind, meta.RESTScopeNamespace)
			c := fake.NewClientBuilder().WithRESTMapper(mapper).WithObjects(u).Build()
			got, err := capi.ReadControlPlane(t.Context(), c, "management",
				capi.ControlPlaneRef{GroupKind: kind.GroupKind(), Name: "c-control-plane"})
			if err != nil {
				t.Fatal(err)
			}
			if got.Available.True() != row.want || got.Kind != "RKE2ControlPlane" {
				t.Errorf("%s: %+v, want available %v", got.Kind, got.Available, row.want)
			}
		})
	}
}
