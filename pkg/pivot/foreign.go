package pivot

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// isOwnCluster is whether an object is the management cluster's own Cluster.
func isOwnCluster(o capi.Object, scope Scope) bool {
	return o.Kind == clusterv1.ClusterKind && o.Key().Group == clusterv1.GroupVersion.Group &&
		o.Name == scope.Cluster && o.Namespace == scope.Namespace
}

// foreign returns what a side may have of its own: what belongs to another Cluster that is active, since a move resumes
// none before it has deleted everything at its source; and what belongs to no Cluster, since a move deletes that last.
func foreign(graph *capi.Graph, moves []capi.Object, clusters []capi.Cluster, scope Scope) map[capi.Key]bool {
	paused := map[string]bool{scope.Cluster: true}
	for _, c := range clusters {
		paused[c.Name] = paused[c.Name] || c.Paused
	}
	byUID := map[types.UID]capi.Object{}
	for _, o := range graph.All() {
		byUID[o.UID] = o
	}
	found := map[capi.Key]bool{}
	for _, o := range moves {
		if !paused[clusterOf(graph, byUID, o)] {
			found[o.Key()] = true
		}
	}
	return found
}

// clusterOf returns the name of the Cluster that an object belongs to: by its owners, its label or, for a Secret, its
// name; "" for none.
func clusterOf(graph *capi.Graph, byUID map[types.UID]capi.Object, o capi.Object) string {
	for range len(byUID) { // each step goes up, and owners may form a circle
		if o.Kind == clusterv1.ClusterKind && o.Key().Group == clusterv1.GroupVersion.Group {
			return o.Name
		}
		u, there := graph.Get(o)
		if !there {
			return ""
		}
		if name := u.GetLabels()[clusterv1.ClusterNameLabel]; name != "" {
			return name
		}
		refs := u.GetOwnerReferences()
		if len(refs) == 0 {
			if name, _, err := secret.ParseSecretName(o.Name); err == nil && o.Kind == "Secret" {
				return name
			}
			return ""
		}
		o = byUID[refs[0].UID]
	}
	return ""
}

// moved are the objects that only a move can have brought here.
func (h Holding) moved() []capi.Object {
	var all []capi.Object
	for _, o := range h.Objects {
		if !h.apart[o.Key()] {
			all = append(all, o)
		}
	}
	return all
}
