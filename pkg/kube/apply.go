package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// ApplyAll applies objects by server-side apply, in order, as FieldOwner. Typed objects need their type in the client's
// scheme. It returns at the first error, which names the object.
func (c *Cluster) ApplyAll(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		u, err := c.unstructured(o)
		if err != nil {
			return err
		}
		apply := client.ApplyConfigurationFromUnstructured(u)
		if err := c.Client.Apply(ctx, apply, client.FieldOwner(FieldOwner), client.ForceOwnership); err != nil {
			return fmt.Errorf("applying %s in the %s cluster: %w", describe(u), c.Name, err)
		}
	}
	return nil
}

// Exists reports whether the object with o's kind and name is in the cluster, and fills o if so.
func (c *Cluster) Exists(ctx context.Context, o client.Object) (bool, error) {
	err := c.Get(ctx, client.ObjectKeyFromObject(o), o)
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		return false, nil
	}
	return false, fmt.Errorf("reading %s in the %s cluster: %w", client.ObjectKeyFromObject(o), c.Name, err)
}

// unstructured returns o without the fields that only the server sets: they must not be applied.
func (c *Cluster) unstructured(o client.Object) (*unstructured.Unstructured, error) {
	gvk, err := apiutil.GVKForObject(o, c.Scheme())
	if err != nil {
		return nil, fmt.Errorf("finding the kind of %T: %w", o, err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("converting %s %s: %w", gvk.Kind, o.GetName(), err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(u.Object, "metadata", "resourceVersion")
	unstructured.RemoveNestedField(u.Object, "metadata", "uid")
	return u, nil
}

func describe(u *unstructured.Unstructured) string {
	if u.GetNamespace() == "" {
		return u.GetKind() + " " + u.GetName()
	}
	return u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
}
