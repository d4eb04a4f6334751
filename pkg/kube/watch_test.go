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
	}{
		"the wanted one":            {[]string{"v1beta1", "v1beta2"}, nil, "v1beta1", "v1beta1"},
		"none is wanted":            {[]string{"v1beta2", "v1beta1", "v1alpha7"}, nil, "", "v1beta2"},
		"a stable one":              {[]string{"v1beta2", "v1"}, nil, "", "v1"},
		"the wanted one is dropped": {[]string{"v1beta2"}, []string{"v1beta1"}, "v1beta1", "v1beta2"},
		"the newest is not served":  {[]string{"v1beta1"}, []string{"v1beta2"}, "", "v1beta1"},
		"none is served":            {nil, []string{"v1beta1"}, "v1beta1", ""},
	} {
		if got := servedVersion(crd(tc.served, tc.dropped), tc.wanted); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
