package drift

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// chart compares the objects of the chart. It also lists objects that an earlier release created and that the chart no
// longer has, of the kinds that it still has and of Kustomizations.
func (c Comparison) chart(ctx context.Context, cluster *kube.Cluster, rendered manifests.Rendered) (Part, error) {
	part := Part{Name: "chart", Objects: []Object{}}
	if err := c.compareObjects(ctx, cluster, helmController, rendered.Chart, &part); err != nil {
		return part, err
	}
	// Kustomizations always count: the chart may have lost all of them.
	kinds := map[schema.GroupVersionKind]bool{kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind): true}
	for _, o := range rendered.Chart {
		kinds[o.GroupVersionKind()] = true
	}
	wanted := idsOf(rendered.Chart)
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	}) {
		released, err := releaseObjects(ctx, cluster, kind)
		if err != nil {
			return part, err
		}
		for i := range released {
			if !wanted[object.UnstructuredToObjMetadata(&released[i])] {
				part.Objects = append(part.Objects, objectOf(Delete, &released[i]))
			}
		}
	}
	return part, nil
}

func idsOf(objects []*unstructured.Unstructured) map[object.ObjMetadata]bool {
	ids := map[object.ObjMetadata]bool{}
	for _, o := range objects {
		ids[object.UnstructuredToObjMetadata(o)] = true
	}
	return ids
}

// releaseObjects returns the objects of a kind that the release created.
func releaseObjects(ctx context.Context, cluster *kube.Cluster, kind schema.GroupVersionKind) (
	[]unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	if err := cluster.List(ctx, list, client.MatchingLabels(rollout.ReleaseLabels())); err != nil {
		return nil, fmt.Errorf("list objects of the release in the %s cluster, kind %s: %w", cluster.Name, kind.Kind,
			err)
	}
	return list.Items, nil
}

// component compares what Flux would apply for a component with its target cluster, and with what Flux applied last.
func (c Comparison) component(ctx context.Context, cluster *kube.Cluster, rendered manifests.Rendered,
	component manifests.Component) (Part, error) {
	part := Part{Name: component.Name, Note: component.Note, Objects: []Object{}}
	if component.Note != "" {
		return part, nil
	}
	kustomization := rendered.Kustomization(component.Name)
	last, err := lastApplied(ctx, cluster, kustomization)
	if err != nil {
		return part, err
	}
	if last == nil {
		part.All, part.Note = true, fmt.Sprintf("does not exist yet: its %d objects would be created",
			len(component.Objects))
		return part, nil
	}
	target := c.applyTarget(cluster, kustomization, &part)
	if target == nil {
		return part, nil
	}
	if err := c.compareObjects(ctx, target, kustomizeController, component.Objects, &part); err != nil {
		return part, err
	}
	removed, err := noLongerApplied(ctx, target, last, component.Objects)
	part.Objects = append(part.Objects, removed...)
	return part, err
}

// lastApplied returns a Kustomization as it is in the cluster, with the inventory of its objects. Nil means that it
// does not exist yet.
func lastApplied(ctx context.Context, cluster *kube.Cluster, kustomization *unstructured.Unstructured) (
	*kustomizev1.Kustomization, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	last := &kustomizev1.Kustomization{}
	last.Namespace, last.Name = kustomization.GetNamespace(), kustomization.GetName()
	if exists, err := cluster.Exists(ctx, last); err != nil || !exists {
		return nil, err
	}
	return last, nil
}

// applyTarget returns the cluster to which the Kustomization in cluster applies its objects. Nil means that there is
// nothing to compare with: then the note of part says why.
func (c Comparison) applyTarget(cluster *kube.Cluster, kustomization *unstructured.Unstructured,
	part *Part) *kube.Cluster {
	switch {
	case !targetsOtherCluster(kustomization):
		return cluster
	case c.Management != nil:
		return c.Management
	case c.ManagementErr != nil:
		part.Note = "not compared: applies to the management cluster, which does not answer"
	default:
		part.All, part.Note = true, "applies to the management cluster, which does not exist yet"
	}
	return nil
}

func targetsOtherCluster(kustomization *unstructured.Unstructured) bool {
	_, remote, _ := unstructured.NestedMap(kustomization.Object, "spec", "kubeConfig")
	return remote
}

// noLongerApplied returns the objects that Flux applied last, that are not in want, and that still exist.
func noLongerApplied(ctx context.Context, cluster *kube.Cluster, last *kustomizev1.Kustomization,
	want []*unstructured.Unstructured) ([]Object, error) {
	if last.Status.Inventory == nil {
		return nil, nil
	}
	wanted := idsOf(want)
	var removed []Object
	for _, entry := range last.Status.Inventory.Entries {
		id, err := object.ParseObjMetadata(entry.ID)
		if err != nil {
			return removed, fmt.Errorf("read the inventory of Kustomization %s: %w", last.Name, err)
		}
		if wanted[id] {
			continue
		}
		change, exists, err := pruneResult(ctx, cluster, last.Spec.Prune, id, entry.Version)
		if err != nil {
			return removed, err
		}
		if exists {
			removed = append(removed, Object{Change: change, Kind: id.GroupKind.Kind, Namespace: id.Namespace,
				Name: id.Name})
		}
	}
	return removed, nil
}

// pruneResult returns what Flux does with an object that it no longer applies, and whether the object exists. With
// pruning, Flux still keeps objects that disable it, as all CRDs and namespaces of components do.
func pruneResult(ctx context.Context, cluster *kube.Cluster, prune bool, id object.ObjMetadata, version string) (
	change Change, exists bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	// The inventory's version may no longer be served, and the kind in another one.
	if mapping, err := cluster.RESTMapper().RESTMapping(id.GroupKind); err == nil {
		version = mapping.GroupVersionKind.Version
	}
	existing := &metav1.PartialObjectMetadata{}
	existing.SetGroupVersionKind(id.GroupKind.WithVersion(version))
	err = cluster.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, existing)
	switch {
	case apierrors.IsNotFound(err), apimeta.IsNoMatchError(err):
		return Leave, false, nil
	case err != nil:
		return Leave, false, fmt.Errorf("read %s %s, which is no longer applied: %w", id.GroupKind.Kind, id.Name, err)
	case !prune:
		return Leave, true, nil
	}
	for _, key := range []string{"kustomize.toolkit.fluxcd.io/prune", "kustomize.toolkit.fluxcd.io/reconcile"} {
		if existing.Annotations[key] == "disabled" || existing.Labels[key] == "disabled" {
			return Leave, true, nil
		}
	}
	return Delete, true, nil
}
