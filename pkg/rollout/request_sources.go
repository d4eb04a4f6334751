package rollout

import (
	"context"
	"fmt"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// requestSources requests a reconciliation of a release's sources that read a Secret. source-controller reads a changed
// Secret only at its next reconciliation: until then a source is Ready because of the former one. It returns the
// sources, without those that are suspended or that source-controller does not reconcile.
func requestSources(ctx context.Context, c *kube.Cluster, release client.ObjectKey, token string) ([]Key, error) {
	var keys []Key
	for _, kind := range []string{sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind, sourcev1.HelmRepositoryKind} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(kind + "List"))
		if err := c.List(ctx, list, client.InNamespace(release.Namespace)); err != nil {
			return nil, fmt.Errorf("list %s objects in the %s cluster: %w", kind, c.Name, err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			if !readsSecret(o) || !sourceOf(release, o) {
				continue
			}
			if o.GetAnnotations()[meta.ReconcileRequestAnnotation] != token { // an earlier call may have failed halfway
				if err := flux.RequestAs(ctx, c, o, token); err != nil {
					return nil, err
				}
			}
			keys = append(keys, Key{kind, o.GetNamespace(), o.GetName()})
		}
	}
	return keys, nil
}

// sourceOf reports whether a release made a source, or is read from it.
func sourceOf(release client.ObjectKey, o *unstructured.Unstructured) bool {
	return Made(release, o) ||
		release == ownRelease() && slices.Contains([]string{flux.ReleaseName, flux.ChartSourceName}, o.GetName())
}

// readsSecret reports whether source-controller reads a Secret when it reconciles the source. It does not reconcile a
// HelmRepository of a registry.
func readsSecret(o *unstructured.Unstructured) bool {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	if suspended, _ := spec["suspend"].(bool); suspended || spec["type"] == sourcev1.HelmRepositoryTypeOCI {
		return false
	}
	return spec["secretRef"] != nil || spec["certSecretRef"] != nil
}
