package environment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

// What cannot be read must not hide the rest: all problems of an environment are reported at once, and some of them by
// the spec.
func TestDecodeLeavesOutWhatDoesNotFit(t *testing.T) {
	spec := decode[Spec](map[string]any{
		"cluster": map[string]any{
			"name": "demo", "namespace": "a" + unknownValue, "infra_provider": 7,
			"control_plane":    map[string]any{"replicas": "many"},
			"worker":           map[string]any{"replicas": float64(2)},
			"registry_mirrors": []any{map[string]any{"host": "ghcr.io", "url": true, "only": true}},
		},
		"proxies": map[string]any{"https_proxy": "http://proxy:3128"},
	})
	want := Spec{
		Cluster: Cluster{Name: "demo", Worker: Pool{Replicas: ptr.To(2)},
			RegistryMirrors: []RegistryMirror{{Host: "ghcr.io", Only: true}}},
		Proxies: Proxies{HTTPS: "http://proxy:3128"},
	}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
