package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A provider that drops a version is still watched: nothing here says which ones it has.
func TestServedVersion(t *testing.T) {
	crd := func(served, dropped []string) *unstructured.Unstructured {
		versions := []any{}
		for _, name := range dropped {
			versions = append(versions, map[string]any{"name": name, "served": false})
		}
		for _, name := range served {
			versions = append(versions, map[string]any{"name": name, "served": true})
		}
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versions": versions}}}
	}
	for name, tc := range map[string]struct {
		served, dropped []string
		wanted, want    string
		labels          map[string]string
	}{
		"the wanted one":            {[]string{"v1beta1", "v1beta2"}, nil, "v1beta1", "v1beta1", nil},
		"none is wanted":            {[]string{"v1beta2", "v1beta1", "v1alpha7"}, nil, "", "v1beta2", nil},
		"a stable one":              {[]string{"v1beta2", "v1"}, nil, "", "v1", nil},
		"the wanted one is dropped": {[]string{"v1beta2"}, []string{"v1beta1"}, "v1beta1", "v1beta2", nil},
		"the newest is not served":  {[]string{"v1beta1"}, []string{"v1beta2"}, "", "v1beta1", nil},
		"none is served":            {nil, []string{"v1beta1"}, "v1beta1", "", nil},
		"the newest of the contract": {[]string{"v1beta1", "v1beta2", "v1"}, nil, "", "v1beta2",
			map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1_v1beta2"}},
		"the newest contract": {[]string{"v1beta1", "v1beta2"}, nil, "", "v1beta1",
			map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta2", "cluster.x-k8s.io/v1beta2": "v1beta1"}},
		"what implements the contract is dropped": {[]string{"v1"}, []string{"v1beta1"}, "", "v1",
			map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"}},
	} {
		definition := crd(tc.served, tc.dropped)
		definition.SetLabels(tc.labels)
		if got := servedVersion(definition, tc.wanted); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
