package capi

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AnyNamespace is one that each cluster has.
const AnyNamespace = "default"

// DryRunCreate has a cluster judge the creation of an object as a move would create it, its webhooks included, and
// stores nothing. namespace stands for the object's own where the cluster does not have that yet. An object that is
// there already passed the webhooks before that was found out. Of Secrets and ConfigMaps neither data nor annotations
// are sent.
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
		fresh.SetAnnotations(u.GetAnnotations()) // those of the others may hold all that was applied
	}
	fresh.SetFinalizers(u.GetFinalizers())
	if err := c.Create(ctx, fresh, client.DryRunAll); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
