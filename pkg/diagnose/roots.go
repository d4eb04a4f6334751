package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// side is one of the two clusters of a run.
type side struct {
	scope    clusters.Scope
	machines provider.Provider
	registry readiness.Registry
	// moved reports that its Flux is suspended for a pivot, ends that the management cluster is being deleted. Both are
	// intended.
	moved, ends bool
	building    bool // a run is creating it
}

// roots returns the objects that a run waits for in a cluster: of Flux, of Cluster API, the installed workloads, and
// the nodes. Other objects are checked only if one of these waits for them.
func (s *Snapshot) roots(of side) []health.Ref {
	return slices.DeleteFunc(s.sorted(), func(r health.Ref) bool {
		switch {
		case fluxNamespace(r):
			return of.moved || of.ends
		case r.Group == "cluster.x-k8s.io" && (r.Kind == "Cluster" || r.Kind == "Machine"):
			return r.Namespace != of.scope.Namespace
		case r.Group == "addons.cluster.x-k8s.io" && r.Kind == "ClusterResourceSet":
			return r.Namespace != of.scope.Namespace
		case r.Kind == "Node" && r.Group == "":
			return false
		case r.Group == "apps" && r.Kind != "ReplicaSet":
			return !s.installed[r.Namespace]
		}
		return true
	})
}

// sorted returns all objects in a stable order.
func (s *Snapshot) sorted() []health.Ref {
	return slices.SortedFunc(maps.Keys(s.objects), func(a, b health.Ref) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.String(), b.String()), cmp.Compare(a.Group, b.Group))
	})
}

// rank puts roots with many dependents first, so that a cause is shown with its longest chain.
func rank(r health.Ref) int {
	switch r.Kind {
	case "Kustomization", "HelmRelease":
		return 0
	case "Cluster":
		return 1
	}
	return 2
}

// learnSecrets adds the Secrets of a cluster to a redactor.
func learnSecrets(ctx context.Context, c *kube.Cluster, redactor *redact.Redactor) error {
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	var list corev1.SecretList
	if err := c.List(ctx, &list); err != nil {
		return fmt.Errorf("list its Secrets: %w", err)
	}
	for _, secret := range list.Items {
		for key, value := range secret.Data {
			redactor.Add(redact.FromSecret(key, string(value))...)
		}
	}
	return nil
}
