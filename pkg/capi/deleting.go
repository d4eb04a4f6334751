package capi

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Leaving is an object that is being deleted and not gone yet.
type Leaving struct {
	Object
	Finalizers []string // who has to agree yet
	Why        string   // what its controller says of it; empty: nothing
}

// Deleting returns what of the kinds that carry the label of clusterctl is being deleted in a namespace, by kind and name.
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
				all = append(all, Leaving{Object: ObjectOf(u), Finalizers: u.GetFinalizers(), Why: whyLeaving(u)})
			}
			return nil
		}, client.InNamespace(namespace))
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// whyLeaving is the message of the condition Deleting, which controllers of Cluster API keep while they delete.
func whyLeaving(u *unstructured.Unstructured) string {
	condition := health.ConditionOf(u, clusterv1.DeletingCondition)
	if condition.Reason == health.NotReported {
		return ""
	}
	if condition.Message != "" {
		return condition.Message
	}
	return condition.Reason
}
