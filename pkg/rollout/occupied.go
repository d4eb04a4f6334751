package rollout

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Occupied returns the management cluster that the stored values in a cluster are for, and whether a pivot of that one
// has suspended the release. Empty means there are none, or they do not name it. A cluster has one release: another
// environment would overwrite its values.
func Occupied(ctx context.Context, c *kube.Cluster) (by string, pivoted bool, err error) {
	values := &corev1.ConfigMap{}
	values.SetNamespace(environment.Namespace)
	values.SetName(environment.ValuesName)
	there, err := c.Exists(ctx, values)
	if err != nil || !there {
		return "", false, err
	}
	by = values.Labels[owned.ClusterLabel]
	release := helmRelease()
	err = c.Get(ctx, client.ObjectKeyFromObject(release), release)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return by, false, nil
	case err != nil:
		return "", false, fmt.Errorf("read HelmRelease %s in the %s cluster: %w", flux.ReleaseName, c.Name, err)
	}
	_, of, _ := strings.Cut(release.Annotations[owned.SuspendedAnnotation], "/")
	return by, release.Spec.Suspend && of == by, nil
}

// Installed returns the management cluster that a cluster became by `install`, see owned.InstalledAnnotation. Empty
// means that it did not.
func Installed(ctx context.Context, c *kube.Cluster) (of string, err error) {
	values := &corev1.ConfigMap{}
	values.Namespace, values.Name = environment.Namespace, environment.ValuesName
	exists, err := c.Exists(ctx, values)
	if err != nil || !exists {
		return "", err
	}
	return values.Annotations[owned.InstalledAnnotation], nil
}
