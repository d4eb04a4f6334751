package restore

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// fluxObject is an object of Flux in the cluster that was backed up.
type fluxObject struct {
	namespace, kind, name string // the kind in lower case
}

// String returns the object, with its namespace unless that is Flux's own.
func (o fluxObject) String() string {
	if o.namespace == flux.Namespace {
		return o.kind + " " + o.name
	}
	return o.kind + " " + o.name + " in namespace " + o.namespace
}

// definitionKustomization is the name of the Kustomization that applies the definition of the management cluster, and
// of the component of that of any cluster.
const definitionKustomization = "cluster"

// definitions returns the objects of Flux, to be read, that apply the definitions of the backup's clusters. They are in
// the order in which a person suspends them: a HelmRelease would resume its Kustomizations.
func (input Input) definitions(ctx context.Context, c client.Client) ([]*unstructured.Unstructured, error) {
	all := []*unstructured.Unstructured{fluxNamed("HelmRelease", flux.Namespace, flux.ReleaseName),
		fluxNamed("Kustomization", flux.Namespace, definitionKustomization)}
	pools, err := kustomizations(ctx, c, flux.Namespace, owned.PoolLabel)
	if err != nil {
		return nil, err
	}
	all = append(all, pools...)
	for _, w := range input.Backup.Manifest.Workloads {
		if !w.Release {
			continue
		}
		all = append(all, fluxNamed("HelmRelease", w.Namespace, w.Cluster))
		components, err := kustomizations(ctx, c, w.Namespace, owned.ComponentLabel)
		if err != nil {
			return nil, err
		}
		for _, u := range components {
			labels := u.GetLabels()
			if rollout.Made(client.ObjectKey{Namespace: w.Namespace, Name: w.Cluster}, u) &&
				(labels[owned.ComponentLabel] == definitionKustomization || labels[owned.PoolLabel] != "") {
				all = append(all, u)
			}
		}
	}
	return all, nil
}

func fluxNamed(kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: releaseGroup, Version: "v2", Kind: kind})
	if kind == "Kustomization" {
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: kind})
	}
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// kustomizations returns the Kustomizations of a namespace that have a label. A cluster without Flux has none.
func kustomizations(ctx context.Context, c client.Client, namespace, label string) ([]*unstructured.Unstructured,
	error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(fluxNamed("Kustomization", "", "").GroupVersionKind())
	err := c.List(ctx, list, client.InNamespace(namespace), client.HasLabels{label})
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("list the Kustomizations of namespace %s: %w", namespace, err)
	}
	var all []*unstructured.Unstructured
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}
