package rollout

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// TeardownRequested reports whether the release of a cluster carries the mark of a `down` of the management cluster
// that of names, see owned.SuspendedFor. It returns false if there is no release.
func TeardownRequested(ctx context.Context, c *kube.Cluster, of string) (bool, error) {
	release := helmRelease()
	err := c.Get(ctx, client.ObjectKeyFromObject(release), release)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read HelmRelease %s in the %s cluster: %w", flux.ReleaseName, c.Name, err)
	}
	return release.Annotations[owned.DownAnnotation] == of, nil
}

// MarkTakenDown puts the mark of a `down` on the release of a cluster, which must have one. The release outlives the
// Cluster that is deleted.
func MarkTakenDown(ctx context.Context, c *kube.Cluster, of string) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, owned.DownAnnotation, of)
	if err := c.Patch(ctx, helmRelease(), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return fmt.Errorf("mark HelmRelease %s of the %s cluster: %s is being torn down: %w", flux.ReleaseName,
			c.Name, of, err)
	}
	return nil
}

// SuspendOwner suspends the Flux object that applies a resource, by the labels that Flux puts on the resource: it would
// restore what is deleted. Without such labels there is nothing to suspend.
func SuspendOwner(ctx context.Context, c *kube.Cluster, labels map[string]string, of string) error {
	for _, owner := range []struct {
		group  string
		object client.Object
	}{{kustomizev1.GroupVersion.Group, &kustomizev1.Kustomization{}},
		{helmv2.GroupVersion.Group, &helmv2.HelmRelease{}}} {
		o, name, namespace := owner.object, labels[owner.group+"/name"], labels[owner.group+"/namespace"]
		if name == "" || namespace == "" {
			continue
		}
		o.SetName(name)
		o.SetNamespace(namespace)
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}},"spec":{"suspend":true}}`, owned.SuspendedAnnotation,
			of)
		if err := c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch))); client.IgnoreNotFound(
			err) != nil {
			return fmt.Errorf("suspend %s/%s, which would restore what is deleted: %w", namespace, name, err)
		}
	}
	return nil
}
