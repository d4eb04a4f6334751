package capi

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// The mark is there exactly as long as clusterctl has something paused; what it writes besides is as it wrote it.
func TestTheMarkComesAndGoesWithThePause(t *testing.T) {
	const paused = clusterv1.PausedAnnotation
	name := metav1.ObjectMeta{Namespace: "ns", Name: "one"}
	raw := func(text string) func(client.Object) client.Patch {
		return func(client.Object) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }
	}
	from := func(before map[string]string) func(client.Object) client.Patch { // as clusterctl patches a ClusterClass
		return func(o client.Object) client.Patch {
			was := o.DeepCopyObject().(client.Object)
			was.SetAnnotations(before)
			return client.MergeFrom(was)
		}
	}
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(clusterKind)
	other := &unstructured.Unstructured{}
	other.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("Machine"))
	for name, tc := range map[string]struct {
		object client.Object
		has    map[string]string // annotations, before
		sets   map[string]string // annotations in memory, which a patch is made of
		patch  func(client.Object) client.Patch
		marked bool
	}{
		"a Cluster is paused": {&clusterv1.Cluster{ObjectMeta: name}, nil, nil,
			raw(`{"spec":{"paused":true}}`), true},
		"a Cluster is resumed": {&clusterv1.Cluster{ObjectMeta: name}, map[string]string{"mark": "x"}, nil,
			raw(`{"spec":{"paused":null}}`), false},
		"a ClusterClass is paused": {&clusterv1.ClusterClass{ObjectMeta: name}, nil,
			map[string]string{paused: ""}, from(nil), true},
		"a ClusterClass is resumed": {&clusterv1.ClusterClass{ObjectMeta: name},
			map[string]string{"mark": "x", paused: ""}, map[string]string{"mark": "x"},
			from(map[string]string{"mark": "x", paused: ""}), false},
		"a Cluster is released": {&clusterv1.Cluster{ObjectMeta: name}, map[string]string{"mark": "x"}, nil,
			raw(`{"metadata":{"finalizers":null}}`), true},
		"a Cluster gets its managed state": {&clusterv1.Cluster{ObjectMeta: name}, nil, nil,
			raw(`{"metadata":{"labels":{"a":"b"}}}`), false},
		// as clusterctl does it
		"a Cluster without a type":      {cluster, nil, nil, raw(`{"spec":{"paused":true}}`), true},
		"something else without a type": {other, nil, nil, raw(`{"spec":{"paused":true}}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			scheme, err := NewScheme()
			if err != nil {
				t.Fatal(err)
			}
			tc.object.SetNamespace("ns")
			tc.object.SetName("one")
			tc.object.SetAnnotations(tc.has)
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.object).Build()
			if tc.sets != nil {
				tc.object.SetAnnotations(tc.sets)
			}
			if err := (marking{c, Mark{"mark", "x"}}).Patch(t.Context(), tc.object, tc.patch(tc.object)); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "one"}, tc.object); err != nil {
				t.Fatal(err)
			}
			if value, marked := tc.object.GetAnnotations()["mark"]; marked != tc.marked || marked && value != "x" {
				t.Errorf("it has %v", tc.object.GetAnnotations())
			}
		})
	}
}
