package capi

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Leaving is an object in deletion that still exists.
type Leaving struct {
	Object
	Finalizers []string // those that are still set
	Why        string   // its controller's message; may be empty
}

// Deleting returns the objects in deletion of a namespace, of the kinds that carry clusterctl's label, by kind and
// name.
func Deleting(ctx context.Context, c client.Client, namespace string) ([]Leaving, error) {
	crds, err := servedKinds(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []Leaving
	for _, crd := range crds {
		if !crd.Namespaced {
			continue
		}
		err := listServed(ctx, c, crd.GVK, func(u *unstructured.Unstructured) error {
			if u.GetDeletionTimestamp() != nil {
				all = append(all, Leaving{Object: ObjectOf(u), Finalizers: u.GetFinalizers(),
					Why: health.WhyDeleting(u)})
			}
			return nil
		}, client.InNamespace(namespace))
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
