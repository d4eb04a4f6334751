package capi

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Object names one object of one cluster. The UID differs between the two sides of a move; Key does not.
type Object struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitempty"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
	// Shared is true for what may exist on both sides and is never deleted from the source: cluster-scoped objects and
	// what they own.
	Shared bool `json:"shared,omitempty"`
}

// Key is the identity of an object on both sides: kind, API group, namespace and name.
type Key struct {
	schema.GroupKind
	types.NamespacedName
}

// ObjectOf returns the identity of u.
func ObjectOf(u *unstructured.Unstructured) Object {
	return Object{
		APIVersion: u.GetAPIVersion(), Kind: u.GetKind(),
		Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID(),
	}
}

// Unstructured returns an object with the identity of o and no content, for deletions and patches.
func (o Object) Unstructured() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(o.APIVersion)
	u.SetKind(o.Kind)
	u.SetNamespace(o.Namespace)
	u.SetName(o.Name)
	return u
}

// Key returns the identity of o without version and UID.
func (o Object) Key() Key {
	return Key{
		GroupKind:      schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind(),
		NamespacedName: types.NamespacedName{Namespace: o.Namespace, Name: o.Name},
	}
}

// String returns the object as "Kind namespace/name", or "Kind name" without a namespace.
func (o Object) String() string { return o.Key().String() }

// String returns the key as "Kind namespace/name", or "Kind name" without a namespace.
func (k Key) String() string {
	if k.Namespace == "" {
		return fmt.Sprintf("%s %s", k.Kind, k.Name)
	}
	return fmt.Sprintf("%s %s/%s", k.Kind, k.Namespace, k.Name)
}
