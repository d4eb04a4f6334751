package capi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Access is one verb on one kind of resource. "*" means all of them.
type Access struct {
	Verb, Group, Resource string
	Namespace             string // "" for all namespaces, and for cluster-wide resources
}

// Everything is the access of an administrator.
func Everything() Access { return Access{Verb: "*", Group: "*", Resource: "*"} }

// String returns the access as "create machines.cluster.x-k8s.io".
func (a Access) String() string {
	return a.Verb + " " + schema.GroupResource{Group: a.Group, Resource: a.Resource}.String()
}

// NamespaceExists reports whether a cluster has a namespace.
func NamespaceExists(ctx context.Context, c client.Reader, name string) (bool, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	err := c.Get(ctx, client.ObjectKey{Name: name}, u)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get Namespace %s: %w", name, err)
	}
	return true, nil
}

var accessReview = schema.GroupVersionKind{Group: "authorization.k8s.io", Version: "v1",
	Kind: "SelfSubjectAccessReview"}

// Allowed checks whether a client's user has an access. Nothing is stored.
func Allowed(ctx context.Context, c client.Client, a Access) (bool, error) {
	attributes := map[string]any{"verb": a.Verb, "group": a.Group, "resource": a.Resource, "namespace": a.Namespace}
	review := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"resourceAttributes": attributes}}}
	review.SetGroupVersionKind(accessReview)
	if err := c.Create(ctx, review); err != nil {
		return false, fmt.Errorf("check whether the user may %s: %w", a, err)
	}
	allowed, _, err := unstructured.NestedBool(review.Object, "status", "allowed")
	return allowed, err
}
