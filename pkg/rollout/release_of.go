package rollout

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

func keyOf(release client.ObjectKey) Key {
	return Key{helmv2.HelmReleaseKind, release.Namespace, release.Name}
}

// GoalOf is that a HelmRelease of c, other than the cluster's own, was reconciled after token, and that its
// Kustomizations are ready. what is for people.
func GoalOf(c *kube.Cluster, release client.ObjectKey, token, what string) Goal {
	key := keyOf(release)
	return Goal{What: what, Ready: []Key{key}, Handled: map[Key]string{key: token}, Release: release,
		Made: madeGoals(c, release, token, nil)}
}
