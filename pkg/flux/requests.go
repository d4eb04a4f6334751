package flux

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// RequestReconcile makes Flux reconcile the object now instead of at its next interval.
func RequestReconcile(ctx context.Context, c *kube.Cluster, o client.Object, now time.Time) error {
	return RequestAs(ctx, c, o, now.Format(time.RFC3339Nano))
}

// RequestAs is RequestReconcile with a token that the status of the object carries once Flux has handled the request.
func RequestAs(ctx context.Context, c *kube.Cluster, o client.Object, token string) error {
	return request(ctx, c, o, map[string]string{meta.ReconcileRequestAnnotation: token})
}

// RequestReset is RequestReconcile for a HelmRelease that also forgets its failures: a HelmRelease without remaining
// retries would not try again, even after its cause was fixed.
func RequestReset(ctx context.Context, c *kube.Cluster, release client.Object, now time.Time) error {
	at := now.Format(time.RFC3339Nano) // helm-controller accepts a reset only together with a request of the same value
	return request(ctx, c, release, map[string]string{meta.ReconcileRequestAnnotation: at,
		helmv2.ResetRequestAnnotation: at})
}

func request(ctx context.Context, c *kube.Cluster, o client.Object, annotations map[string]string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err == nil {
		err = c.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	}
	if err != nil {
		return fmt.Errorf("ask for a reconciliation of %s in the %s cluster: %w", client.ObjectKeyFromObject(o),
			c.Name, err)
	}
	return nil
}

// Kustomizations returns all Kustomizations of the cluster, or only those that the options select.
func Kustomizations(ctx context.Context, c *kube.Cluster, only ...client.ListOption) ([]kustomizev1.Kustomization,
	error) {
	var list kustomizev1.KustomizationList
	if err := c.List(ctx, &list, only...); err != nil {
		return nil, fmt.Errorf("list Kustomizations in the %s cluster: %w", c.Name, err)
	}
	return list.Items, nil
}

// SuspendedWith reports whether any Kustomization of the cluster is suspended and has an annotation with this value. It
// returns false if Flux is not installed. It lists metadata alone: there may be hundreds, and few have the annotation.
func SuspendedWith(ctx context.Context, c *kube.Cluster, annotation, value string) (bool, error) {
	kind := kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind)
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := c.List(ctx, list)
	if kube.NotServed(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list Kustomizations in the %s cluster: %w", c.Name, err)
	}
	for i := range list.Items {
		if list.Items[i].Annotations[annotation] != value {
			continue
		}
		var k kustomizev1.Kustomization
		key := client.ObjectKeyFromObject(&list.Items[i])
		if err := c.Get(ctx, key, &k); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("read Kustomization %s in the %s cluster: %w", key, c.Name, err)
		}
		if k.Spec.Suspend && k.Annotations[annotation] == value {
			return true, nil
		}
	}
	return false, nil
}
