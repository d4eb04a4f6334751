package rollout

import (
	"context"
	"fmt"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Labels that helm-controller puts on everything that a HelmRelease makes.
const (
	madeByName      = "helm.toolkit.fluxcd.io/name"
	madeByNamespace = "helm.toolkit.fluxcd.io/namespace"
)

// ReleaseLabels are the labels of everything that the release makes in a cluster.
func ReleaseLabels() map[string]string {
	return map[string]string{madeByName: flux.ReleaseName, madeByNamespace: flux.Namespace}
}

// ownRelease is the HelmRelease of the cluster itself.
func ownRelease() client.ObjectKey {
	return client.ObjectKey{Namespace: flux.Namespace, Name: flux.ReleaseName}
}

// Made reports whether a release made an object.
func Made(release client.ObjectKey, o v1.Object) bool {
	labels := o.GetLabels()
	return labels[madeByName] == release.Name && labels[madeByNamespace] == release.Namespace
}

// OwnedKustomizations returns the Kustomizations that the cluster's own release made, see MadeKustomizations.
func OwnedKustomizations(ctx context.Context, c *kube.Cluster) ([]client.ObjectKey, error) {
	return MadeKustomizations(ctx, c, ownRelease())
}

// MadeKustomizations returns the Kustomizations that a release made in a cluster, by the chart in the source, which
// may differ from this program's. It fails if the release made none: without them no wait could end.
func MadeKustomizations(ctx context.Context, c *kube.Cluster, release client.ObjectKey) ([]client.ObjectKey, error) {
	list, err := made(ctx, c, release)
	keys := make([]client.ObjectKey, len(list))
	for i := range list {
		keys[i] = client.ObjectKeyFromObject(&list[i])
	}
	return keys, err
}

func made(ctx context.Context, c *kube.Cluster, release client.ObjectKey) ([]kustomizev1.Kustomization, error) {
	list, err := flux.Kustomizations(ctx, c, client.MatchingLabels{madeByName: release.Name,
		madeByNamespace: release.Namespace})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(k kustomizev1.Kustomization) bool { return k.DeletionTimestamp != nil })
	if len(list) == 0 {
		return nil, fault.New(fault.ComponentStuck,
			fmt.Sprintf("the HelmRelease %s in the %s cluster made no Kustomization", release, c.Name),
			"Check which chart it installed: kubectl -n "+release.Namespace+" describe helmrelease "+release.Name)
	}
	return list, nil
}

// madeGoals returns a Goal.Made that finds a release's Kustomizations, except for those that are left out, and its
// sources with a Secret. With a token the sources must have handled it as a request.
func madeGoals(c *kube.Cluster, release client.ObjectKey, token string, leftOut []string) func(
	context.Context) (map[Key]string, error) {
	return func(ctx context.Context) (map[Key]string, error) {
		all, err := made(ctx, c, release)
		if err != nil {
			return nil, err
		}
		keys := map[Key]string{}
		for i := range all {
			k := &all[i]
			pool := isDefinition(k) && slices.Contains(leftOut, definitionComponent)
			if !pool && !slices.Contains(leftOut, k.Name) {
				keys[Key{kustomizev1.KustomizationKind, k.Namespace, k.Name}] = ""
			}
		}
		if token == "" {
			return keys, nil
		}
		sources, err := requestSources(ctx, c, release, token)
		for _, source := range sources {
			keys[source] = token
		}
		return keys, err
	}
}
