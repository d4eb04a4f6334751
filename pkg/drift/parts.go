package drift

import (
	"context"
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/object"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// chart compares the objects of the chart, and lists those that it created earlier and no longer has.
func (c Comparison) chart(ctx context.Context, in *kube.Cluster, rendered manifests.Rendered) (Part, error) {
	part := Part{Name: "chart", Objects: []Object{}}
	if err := c.applied(ctx, in, helmController, rendered.Chart, &part); err != nil {
		return part, err
	}
	has := map[object.ObjMetadata]bool{}
	kinds := map[schema.GroupVersionKind]bool{kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind): true}
	for _, o := range rendered.Chart {
		has[object.UnstructuredToObjMetadata(o)] = true
		kinds[o.GroupVersionKind()] = true
	}
	for kind := range kinds {
		made, err := madeOf(ctx, in, kind)
		if err != nil {
			return part, err
		}
		for i := range made {
			if !has[object.UnstructuredToObjMetadata(&made[i])] {
				part.Objects = append(part.Objects, objectOf(Delete, &made[i]))
			}
		}
	}
	return part, nil
}

// madeOf returns the objects of a kind that the release created.
func madeOf(ctx context.Context, in *kube.Cluster, kind schema.GroupVersionKind) ([]unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	if err := in.List(ctx, list, client.MatchingLabels(rollout.ReleaseLabels())); err != nil {
		return nil, fmt.Errorf("list objects of the release in the %s cluster, kind %s: %w", in.Name, kind.Kind, err)
	}
	return list.Items, nil
}

// component compares what Flux would apply for a component with the cluster, and with what Flux applied last.
func (c Comparison) component(ctx context.Context, in *kube.Cluster, rendered manifests.Rendered,
	of manifests.Component) (Part, error) {
	part := Part{Name: of.Name, Note: of.Note, Objects: []Object{}}
	kustomization := rendered.Kustomization(of.Name)
	last := &kustomizev1.Kustomization{}
	last.Namespace, last.Name = kustomization.GetNamespace(), kustomization.GetName()
	asked, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	there, err := in.Exists(asked, last)
	switch {
	case err != nil:
		return part, err
	case of.Note != "":
		return part, nil
	case !there:
		part.All, part.Note = true, fmt.Sprintf("does not exist yet: its %d objects would be created", len(of.Objects))
		return part, nil
	}
	if appliedElsewhere(kustomization) {
		if c.Management == nil {
			part.Note = "applies to the management cluster, which does not exist yet"
			if part.All = c.ManagementErr == nil; !part.All {
				part.Note = "not compared: applies to the management cluster, which does not answer"
			}
			return part, nil
		}
		in = c.Management
	}
	if err := c.applied(ctx, in, kustomizeController, of.Objects, &part); err != nil {
		return part, err
	}
	gone, err := c.gone(ctx, in, last, of.Objects)
	part.Objects = append(part.Objects, gone...)
	return part, err
}

func appliedElsewhere(kustomization *unstructured.Unstructured) bool {
	_, elsewhere, _ := unstructured.NestedMap(kustomization.Object, "spec", "kubeConfig")
	return elsewhere
}

// gone returns the objects that Flux applied last and that are not in want.
func (c Comparison) gone(ctx context.Context, in *kube.Cluster, last *kustomizev1.Kustomization,
	want []*unstructured.Unstructured) ([]Object, error) {
	if last.Status.Inventory == nil {
		return nil, nil
	}
	has := map[object.ObjMetadata]bool{}
	for _, o := range want {
		has[object.UnstructuredToObjMetadata(o)] = true
	}
	var gone []Object
	for _, entry := range last.Status.Inventory.Entries {
		id, err := object.ParseObjMetadata(entry.ID)
		if err != nil {
			return gone, fmt.Errorf("read the inventory of Kustomization %s: %w", last.Name, err)
		}
		if has[id] {
			continue
		}
		change := Leave
		if last.Spec.Prune {
			if change, err = pruned(ctx, in, id, entry.Version); err != nil {
				return gone, err
			}
		}
		gone = append(gone, Object{Change: change, Kind: id.GroupKind.Kind, Namespace: id.Namespace, Name: id.Name})
	}
	return gone, nil
}

// pruned returns what Flux does with an object that it no longer applies. It keeps objects that disable pruning, as all
// CRDs and namespaces of components do.
func pruned(ctx context.Context, in *kube.Cluster, id object.ObjMetadata, version string) (Change, error) {
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	there := &metav1.PartialObjectMetadata{}
	there.SetGroupVersionKind(id.GroupKind.WithVersion(version))
	err := in.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, there)
	switch {
	case apierrors.IsNotFound(err), apimeta.IsNoMatchError(err):
		return Delete, nil // already deleted
	case err != nil:
		return Leave, fmt.Errorf("read %s %s, which is no longer applied: %w", id.GroupKind.Kind, id.Name, err)
	}
	for _, key := range []string{"kustomize.toolkit.fluxcd.io/prune", "kustomize.toolkit.fluxcd.io/reconcile"} {
		if there.Annotations[key] == "disabled" || there.Labels[key] == "disabled" {
			return Leave, nil
		}
	}
	return Delete, nil
}
