package capi

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AnyNamespace exists in each cluster.
const AnyNamespace = "default"

// DryRunCreate validates the creation of an object as a move would create it, including webhooks, and stores nothing.
// namespace replaces the object's own, which the cluster may not have yet. An object that already exists is no error:
// it passed the webhooks before. Neither data nor annotations of Secrets and ConfigMaps are sent.
func DryRunCreate(ctx context.Context, c client.Client, u *unstructured.Unstructured, namespace string) error {
	fresh := &unstructured.Unstructured{Object: map[string]any{}}
	for field, value := range u.DeepCopy().Object {
		switch field {
		case "metadata", "status", "data", "stringData", "binaryData", "immutable":
		default:
			fresh.Object[field] = value
		}
	}
	fresh.SetName(u.GetName())
	fresh.SetNamespace(namespace)
	fresh.SetLabels(u.GetLabels())
	switch u.GroupVersionKind() {
	case secretKind, configMapKind:
		delete(fresh.Object, "type") // some types of Secrets demand certain keys
	default:
		fresh.SetAnnotations(u.GetAnnotations()) // those of Secrets and ConfigMaps may contain their applied data
	}
	fresh.SetFinalizers(u.GetFinalizers())
	if err := c.Create(ctx, fresh, client.DryRunAll); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
