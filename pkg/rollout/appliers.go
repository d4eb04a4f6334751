package rollout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Applier is a Kustomization or a HelmRelease that is not suspended: it applies objects again.
type Applier struct {
	health.Ref
	applied []health.Ref
}

// String returns its kind, namespace and name.
func (a Applier) String() string { return fmt.Sprintf("%s %s/%s", a.Kind, a.Namespace, a.Name) }

// SuspendCommand returns the command that suspends it.
func (a Applier) SuspendCommand() string {
	return fmt.Sprintf("flux suspend %s -n %s %s", strings.ToLower(a.Kind), oneline.Shell(a.Namespace),
		oneline.Shell(a.Name))
}

// Appliers are those of a cluster, in all namespaces.
type Appliers []Applier

// ReadAppliers lists the Appliers of a cluster. A cluster without Flux has none.
func ReadAppliers(ctx context.Context, c client.Reader) (Appliers, error) {
	var all Appliers
	for _, kind := range []schema.GroupVersionKind{
		kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind),
		helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind)} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := c.List(ctx, list); err != nil && !kube.NotServed(err) {
			return nil, fmt.Errorf("list each %s, which may apply objects again: %w", kind.Kind, err)
		}
		for i := range list.Items {
			u := &list.Items[i]
			if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); !suspended {
				all = append(all, Applier{health.RefOf(u), health.Inventory(u)})
			}
		}
	}
	return all, nil
}

// Of returns those that would apply an object again: the labels of the object name them, or their inventory has it.
func (all Appliers) Of(object health.Ref, labels map[string]string) Appliers {
	return slices.DeleteFunc(slices.Clone(all), func(a Applier) bool {
		named := labels[a.Group+"/name"] == a.Name && labels[a.Group+"/namespace"] == a.Namespace
		return a.Ref == object || !named && !slices.Contains(a.applied, object)
	})
}
