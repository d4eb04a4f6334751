package pivot_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
)

var scope = clusters.Scope{Namespace: fixture.Namespace, Cluster: fixture.Cluster}

// side describes one fake cluster.
type side struct {
	crds      func(*apiextensionsv1.CustomResourceDefinition) bool // edits each; false leaves it out
	kinds     []schema.GroupVersionKind                            // besides fixture.Kinds
	objects   []*unstructured.Unstructured
	providers []*unstructured.Unstructured
	edits     []fixture.Edit
}

func (s side) client(t *testing.T) client.Client {
	t.Helper()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, gvk := range append(fixture.Kinds(), s.kinds...) {
		if crd := fixture.CRDOf(gvk); s.crds == nil || s.crds(crd) {
			crds = append(crds, crd)
		}
	}
	c, err := fixture.FakeClient(crds)
	if err != nil {
		t.Fatal(err)
	}
	for _, objects := range [][]*unstructured.Unstructured{s.objects, s.providers} {
		if err := fixture.Create(t.Context(), c, fixture.Namespace, objects, s.edits...); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// source and target return the two sides just before a move that nothing forbids.
func source(edits ...fixture.Edit) side {
	return side{
		objects: append(fixture.ManagementCluster(), fixture.Bystanders()...), providers: fixture.Providers(),
		edits: edits,
	}
}

func target(edits ...fixture.Edit) side {
	return side{providers: fixture.Providers(), edits: edits}
}

func sides(t *testing.T, from, to side) (clusters.Side, clusters.Side) {
	t.Helper()
	return clusters.Side{Client: from.client(t), Kubeconfig: "/tmp/source.kubeconfig"},
		clusters.Side{Client: to.client(t), Kubeconfig: "/tmp/target.kubeconfig"}
}
