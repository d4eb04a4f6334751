package install

import (
	"context"
	"fmt"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// made is what the release of the cluster made: its Kustomizations, and the HelmReleases that those have applied.
type made struct {
	kustomizations, charts names
}

func (r *Run) made(ctx context.Context) (made, error) {
	found := made{names{}, names{}}
	list := metadataList(kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind))
	err := r.cluster.List(ctx, list, client.InNamespace(flux.Namespace), client.MatchingLabels(rollout.ReleaseLabels()))
	if err != nil && !kube.NotServed(err) {
		return found, fmt.Errorf("list the Kustomizations of the release: %w", err)
	}
	for i := range list.Items {
		found.kustomizations[client.ObjectKeyFromObject(&list.Items[i])] = true
	}
	charts := metadataList(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind))
	err = r.cluster.List(ctx, charts, client.HasLabels{appliedByName})
	if err != nil && !kube.NotServed(err) {
		return found, fmt.Errorf("list the HelmReleases of components: %w", err)
	}
	found.charts = chartsOf(charts.Items, found.kustomizations)
	return found, nil
}

// applied reports whether one of the Kustomizations, or of their HelmReleases, has applied an object.
func (m made) applied(o metav1.Object) bool {
	return m.kustomizations[applier(o)] || m.charts[chartOf(o)]
}

// appliedOrOwned reports whether applied is true of an object, or of what controls it: a chart may be of an operator.
func (r *Run) appliedOrOwned(ctx context.Context, m made, o object) (bool, error) {
	const deepest = 5
	for range deepest {
		if m.applied(o) {
			return true, nil
		}
		ref := metav1.GetControllerOf(o)
		if ref == nil {
			return false, nil
		}
		owner := &metav1.PartialObjectMetadata{}
		owner.APIVersion, owner.Kind = ref.APIVersion, ref.Kind
		owner.Namespace, owner.Name = o.GetNamespace(), ref.Name
		exists, err := r.cluster.Exists(ctx, owner)
		if err != nil || !exists || owner.UID != ref.UID {
			return false, err
		}
		o = owner
	}
	return false, nil
}

// chartsOf returns the HelmReleases among objects that one of these Kustomizations has applied.
func chartsOf(objects []metav1.PartialObjectMetadata, by names) names {
	found := names{}
	for i := range objects {
		if by[applier(&objects[i])] {
			found[client.ObjectKeyFromObject(&objects[i])] = true
		}
	}
	return found
}

// chartOf returns the HelmRelease that made an object, by its labels.
func chartOf(o metav1.Object) client.ObjectKey {
	labels, group := o.GetLabels(), helmv2.GroupVersion.Group
	return client.ObjectKey{Namespace: labels[group+"/namespace"], Name: labels[group+"/name"]}
}

// isCopy reports whether an object only has the labels of what Flux or Helm applied: a person copied the object with
// them. What a controller makes for an object may have its labels too, and has it for an owner.
func isCopy(o object) bool {
	labels, manager := o.GetLabels(), ""
	switch {
	case len(o.GetOwnerReferences()) > 0:
		return false
	case labels[appliedByName] != "":
		manager = "kustomize-controller"
	case labels[helmv2.GroupVersion.Group+"/name"] != "":
		manager = "helm-controller"
	default:
		return false
	}
	return !slices.ContainsFunc(o.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == manager
	})
}

func isHelmRelease(o object) bool {
	return o.GroupVersionKind().GroupKind() == helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind).GroupKind()
}

// isLeftByHelm reports whether Helm leaves an object when it uninstalls a chart: a definition of the chart's folder
// crds, which lacks the annotation of what Helm renders, and what the chart says.
func isLeftByHelm(o object) bool {
	annotations := o.GetAnnotations()
	return o.Kind == crdKind().Kind && annotations["meta.helm.sh/release-name"] == "" ||
		annotations["helm.sh/resource-policy"] == "keep"
}
