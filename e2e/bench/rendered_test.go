//go:build bench

package bench

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/bundle"
)

// TestManifestsOfTheFloor renders what the floor applies, without any cluster.
func TestManifestsOfTheFloor(t *testing.T) {
	c := newCLI(t)
	b, err := bundle.Open(c.bundle)
	if err != nil {
		t.Fatal(err)
	}
	f := newFloor(t, c.binary, b)
	for name, m := range map[string]manifests{"bootstrap": f.bootstrap, "management": f.management} {
		m.complete(t, name)
	}
	if len(f.images) == 0 || len(f.images) >= len(b.References(bundle.LoadRegistry)) {
		t.Errorf("%d images of %d: all but those of Flux are wanted", len(f.images),
			len(b.References(bundle.LoadRegistry)))
	}
}

// complete holds the manifests to what a run cannot do without.
func (m manifests) complete(t *testing.T, name string) {
	t.Helper()
	for part, want := range map[string]struct {
		objects []*unstructured.Unstructured
		kinds   []string
	}{
		"namespaces":   {m.namespaces, []string{"Namespace"}},
		"cert-manager": {m.certManager, []string{"CustomResourceDefinition", "Deployment"}},
		"providers":    {m.providers, []string{"CustomResourceDefinition", "Deployment", "Certificate"}},
		"cni":          {m.cni, []string{"DaemonSet"}},
		"cluster":      {m.cluster, []string{"Cluster", "KubeadmControlPlane", "DevCluster", "DevMachineTemplate"}},
	} {
		kinds := map[string]int{}
		for _, o := range want.objects {
			kinds[o.GetKind()]++
			if part == "cluster" && (strings.Contains(o.GetName(), "$") || o.GetNamespace() == "") {
				t.Errorf("%s, %s: %s %q in namespace %q", name, part, o.GetKind(), o.GetName(), o.GetNamespace())
			}
		}
		for _, kind := range want.kinds {
			if kinds[kind] == 0 {
				t.Errorf("%s, %s: no %s, only %v", name, part, kind, kinds)
			}
		}
		t.Logf("%s, %s: %v", name, part, kinds)
	}
}
