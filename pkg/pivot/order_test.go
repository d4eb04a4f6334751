package pivot_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// An object below two classes that Clusters of another namespace use is left behind because of the first one, in each
// run.
func TestWhatIsLeftBehindHasOneReason(t *testing.T) {
	of := func(apiVersion, kind, namespace, name string, spec map[string]any, owners ...any,
	) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec,
			"metadata": map[string]any{"namespace": namespace, "name": name, "uid": "uid-" + name,
				"ownerReferences": owners}}}
	}
	class := fixture.ClassKind.GroupVersion().String()
	var objects []*unstructured.Unstructured
	var owners []any
	for _, name := range []string{"a", "b", "c", "d"} {
		owners = append(owners, map[string]any{"apiVersion": class, "kind": "ClusterClass", "name": name,
			"uid": "uid-" + name})
		objects = append(objects, of(class, "ClusterClass", fixture.Namespace, name, map[string]any{}),
			of(class, "Cluster", "team", "user-"+name, map[string]any{"topology": map[string]any{
				"classRef": map[string]any{"name": name, "namespace": fixture.Namespace}}}))
	}
	template := fixture.One("DevMachineTemplate", "mgmt-md")[0]
	objects = append(objects, of(template.GetAPIVersion(), template.GetKind(), fixture.Namespace, "shared",
		map[string]any{}, owners...))
	from, to := sides(t, side{kinds: []schema.GroupVersionKind{fixture.ClassKind}, providers: fixture.Providers(),
		objects: fixture.ManagementCluster()}, target())
	for _, o := range objects {
		must(t, from.Client.Create(t.Context(), o))
	}
	for range 10 {
		p, err := pivot.NewPreview(t.Context(), from, to, scope, false)
		must(t, err)
		found := false
		for _, left := range p.Stays {
			if left.Object.Name != "shared" {
				continue
			}
			found = true
			if !strings.Contains(left.Reason, "user-a uses ClusterClass management/a") {
				t.Fatal(left.Reason)
			}
		}
		if !found {
			t.Fatalf("it is not left behind: %v", p.Stays)
		}
	}
}
