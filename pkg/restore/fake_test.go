package restore_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
)

var (
	scope      = clusters.Scope{Namespace: fixture.Namespace, Cluster: fixture.Cluster}
	everything = fixture.ManagementCluster
	paused     = fixture.Set("Cluster", "mgmt", true, "spec", "paused")
)

// side describes one fake cluster, which has the providers.
type side struct {
	crds    func(*apiextensionsv1.CustomResourceDefinition) bool // edits each; false leaves it out
	objects []*unstructured.Unstructured
	edits   []fixture.Edit
}

// source and target return the cluster that is backed up, and an empty one to restore it into.
func source(edits ...fixture.Edit) side {
	return side{objects: append(everything(), fixture.Bystanders()...), edits: edits}
}

func target(edits ...fixture.Edit) side { return side{edits: edits} }

func (s side) client(t *testing.T) client.Client {
	t.Helper()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, gvk := range fixture.Kinds() {
		if crd := fixture.CRDOf(gvk); s.crds == nil || s.crds(crd) {
			crds = append(crds, crd)
		}
	}
	c, err := fixture.FakeClient(crds)
	must(t, err)
	must(t, fixture.Create(t.Context(), c, fixture.Namespace, append(s.objects, fixture.Providers()...), s.edits...))
	return c
}

// tenant returns another Cluster of the namespace.
func tenant() *unstructured.Unstructured {
	u := everything()[0].DeepCopy()
	u.SetName("tenant")
	return u
}

// onlyCluster returns the Cluster of the fixture.
func onlyCluster() []*unstructured.Unstructured { return everything()[:1] }

func oneOf(u *unstructured.Unstructured) []*unstructured.Unstructured {
	return []*unstructured.Unstructured{u}
}

func inNamespace(u *unstructured.Unstructured) *unstructured.Unstructured {
	u.SetNamespace(fixture.Namespace)
	return u
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
