package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/bundle"
)

func TestBundleValues(t *testing.T) {
	b := &bundle.Bundle{Index: bundle.Index{
		KubernetesVersion: "v1.36.2", NodeImage: "kindest/node:v1.36.2",
		Values: map[string]any{"cni": "custom", "cluster": map[string]any{"rke2": map[string]any{"air_gapped": true}}},
	}}
	for version, want := range map[string]string{"v1.36.4": "v1.36.2", "v1.36.4+rke2r3": "v1.36.2+rke2r3"} {
		got := bundleValues(b, version)
		values := map[string]any{"cni": "custom", "cluster": map[string]any{
			"image": "kindest/node:v1.36.2", "kubernetes_version": want, "rke2": map[string]any{"air_gapped": true}}}
		if diff := cmp.Diff(values, got); diff != "" {
			t.Errorf("for %s (-want +got):\n%s", version, diff)
		}
		if err := b.ForKubernetes(want); err != nil {
			t.Errorf("the bundle does not contain what it is told to: %v", err)
		}
		if err := b.ForKubernetes(version); err == nil {
			t.Errorf("the bundle holds %s, and says that it holds %s", want, version)
		}
	}
}
