package environment_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// Flux fills in variables only for components that have some: of the others a script keeps its own ${...}. Components
// whose release files have defaults of their own need one, as Flux fills in no default without.
func TestOnlyComponentsWithVariablesAreSubstituted(t *testing.T) {
	own := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capo\n", "values.yaml": cloudOfOne + `
components:
  cabpr: {enabled: true}
  plain: {enabled: true, path: ./plain}
  filled: {enabled: true, path: ./filled, substitute: {A: b}}
  from: {enabled: true, path: ./from, spec: {postBuild: {substituteFrom: [{kind: Secret, name: s}]}}}
`, "secrets.yaml": "cluster: {openstack: {clouds_yaml_b64: " + cloudsOfOne + ", cloud_name: edge, cacert_b64: \"\"}}\n"})
	rendered, err := load(t, environment.Options{Name: own, Derive: noCloud}).Render(environment.Management, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"capi": true, "cabpk": true, "cabpr": true, "capo": true, "cloud-provider": true,
		"cluster": true, "filled": true, "from": true,
		"plain": false, "cert-manager": false, "orc": false, "cni": false}
	for _, object := range rendered {
		expected, known := want[object.GetName()]
		if object.GetKind() != "Kustomization" || !known {
			continue
		}
		delete(want, object.GetName())
		variables, _, _ := unstructured.NestedMap(object.Object, "spec", "postBuild")
		if got := len(variables) > 0; got != expected {
			t.Errorf("component %s has postBuild %v", object.GetName(), variables)
		}
		if substitute, _, _ := unstructured.NestedMap(object.Object, "spec", "postBuild",
			"substitute"); object.GetName() == "filled" && len(substitute) != 1 {
			t.Errorf("component filled has the variables %v", substitute)
		}
	}
	for name := range want {
		t.Errorf("component %s is not there", name)
	}
}
