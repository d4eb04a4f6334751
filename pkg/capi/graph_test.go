package capi

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Objects of one kind and name in two API groups have the same text. They have an order all the same.
func TestObjectsOfTwoGroupsHaveAnOrder(t *testing.T) {
	of := func(apiVersion string) Object {
		return ObjectOf(&unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": "Cluster",
			"metadata": map[string]any{"namespace": "n", "name": "a"}}})
	}
	a, b := of("a.example/v1"), of("b.example/v1")
	want := []Object{a, b}
	for _, given := range [][]Object{{a, b}, {b, a}} {
		if got := sorted(slices.Clone(given)); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
