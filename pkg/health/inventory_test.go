package health

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The objects of a Kustomization with a kubeconfig are in another cluster. The same names mean other objects here.
func TestInventoryIsOfTheOwnCluster(t *testing.T) {
	const text = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux, namespace: team-a}
spec: {path: ./flux}
status: {inventory: {entries: [{id: flux-system_source-controller_apps_Deployment, v: v1}]}}
`
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	want := Ref{Group: "apps", Kind: "Deployment", Namespace: "flux-system", Name: "source-controller"}
	if got := Inventory(u); len(got) != 1 || got[0] != want {
		t.Errorf("in its own cluster: %v", got)
	}
	if err := unstructured.SetNestedField(u.Object, "shop-kubeconfig", "spec", "kubeConfig", "secretRef",
		"name"); err != nil {
		t.Fatal(err)
	}
	if got := Inventory(u); len(got) != 0 {
		t.Errorf("in another cluster: %v", got)
	}
	for _, edge := range Edges(u) {
		if edge.To == want {
			t.Errorf("it leads to %v", edge.To)
		}
	}
}
