package diagnose

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// roots returns the objects that a run waits for in a cluster: of Flux, of Cluster API, the installed workloads, and
// the nodes. Other objects are checked only if one of these waits for them.
func (s *Snapshot) roots(cluster side) []health.Ref {
	return slices.DeleteFunc(s.sorted(), func(r health.Ref) bool {
		switch {
		case fluxNamespace(r):
			return cluster.suspendedForPivot || cluster.beingDeleted
		case cluster.workload && isFlux(r):
			return r.Namespace != cluster.scope.Namespace
		case r.Group == "cluster.x-k8s.io" && (r.Kind == "Cluster" || r.Kind == "Machine"):
			return r.Namespace != cluster.scope.Namespace
		case r.Group == "addons.cluster.x-k8s.io" && r.Kind == "ClusterResourceSet":
			return r.Namespace != cluster.scope.Namespace
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
		return cmp.Or(cmp.Compare(rootOrder(a), rootOrder(b)), cmp.Compare(a.String(), b.String()),
			cmp.Compare(a.Group, b.Group))
	})
}

// rootOrder puts Kustomizations and HelmReleases first, then Clusters. The first root that reaches a cause gives its
// chain.
func rootOrder(r health.Ref) int {
	switch r.Kind {
	case "Kustomization", "HelmRelease":
		return 0
	case "Cluster":
		return 1
	}
	return 2
}
