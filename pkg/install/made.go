package install

import (
	"context"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
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
	if err != nil && !apimeta.IsNoMatchError(err) {
		return found, fmt.Errorf("list the Kustomizations of the release: %w", err)
	}
	for i := range list.Items {
		found.kustomizations[client.ObjectKeyFromObject(&list.Items[i])] = true
	}
	charts := metadataList(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind))
	err = r.cluster.List(ctx, charts, client.HasLabels{appliedByName})
	if err != nil && !apimeta.IsNoMatchError(err) {
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
