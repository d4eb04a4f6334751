package drift

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Objects of the inventory that no longer exist are no difference: neither Flux nor `up` does anything with them.
func TestDeletedObjectsAreNoDifference(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	configMap := func(name, prune string) *corev1.ConfigMap {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		if prune != "" {
			o.Annotations = map[string]string{"kustomize.toolkit.fluxcd.io/prune": prune}
		}
		return o
	}
	cluster := &kube.Cluster{Name: "management", Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		configMap("loose", ""), configMap("kept", "disabled")).Build()}
	found := func(change Change, name string) Object {
		return Object{Change: change, Kind: "ConfigMap", Namespace: "default", Name: name}
	}
	for prune, want := range map[bool][]Object{
		true:  {found(Delete, "loose"), found(Leave, "kept")},
		false: {found(Leave, "loose"), found(Leave, "kept")},
	} {
		last := &kustomizev1.Kustomization{}
		last.Spec.Prune = prune
		last.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
			{ID: "default_deleted__ConfigMap", Version: "v1"}, {ID: "default_loose__ConfigMap", Version: "v1"},
			{ID: "default_kept__ConfigMap", Version: "v1"}}}
		got, err := noLongerApplied(t.Context(), cluster, last, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("prune %v: %s", prune, diff)
		}
	}
}
