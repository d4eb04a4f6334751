package capi

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Leaving is an object that is being deleted and not gone yet.
type Leaving struct {
	Object
	Finalizers []string // who has to agree yet
	Why        string   // what its controller says of it; empty: nothing
}

// Deleting returns what of the kinds that carry the label of clusterctl is being deleted in a namespace, by kind and
// name.
func Deleting(ctx context.Context, c client.Reader, namespace string) ([]Leaving, error) {
	crds, err := LabelledCRDs(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []Leaving
	for _, crd := range crds {
		if !crd.Namespaced {
			continue
		}
		err := listEach(ctx, c, crd.GVK, func(u *unstructured.Unstructured) error {
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
