package clusters

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// Holding is what one cluster holds of a scope. It does not count objects that may stay in both clusters.
type Holding struct {
	Objects  []capi.Object
	Clusters []capi.Cluster
	// PausedClasses are the ClusterClasses that are paused.
	PausedClasses []capi.Object
	// BeingDeleted reports whether a move or a user has begun to delete one of the objects.
	BeingDeleted bool
	// Foreign are the objects that may be here without a move of this scope.
	Foreign map[capi.Key]bool

	markedClasses []capi.Object // the ClusterClasses that a move of the scope has paused and not resumed
}

// Hold returns what a cluster holds of the scope. It changes nothing.
func Hold(ctx context.Context, c client.Client, scope Scope) (Holding, error) {
	graph, err := capi.DiscoverServed(ctx, c, scope.Namespace)
	if err != nil {
		return Holding{}, err
	}
	var h Holding
	moves := graph.Moves()
	for _, o := range moves {
		if !o.Shared {
			h.Objects = append(h.Objects, o)
		}
		u, _ := graph.Get(o)
		h.BeingDeleted = h.BeingDeleted || !o.Shared && BeingDeleted(u)
		if o.Kind == clusterv1.ClusterClassKind && annotations.HasPaused(u) {
			h.PausedClasses = append(h.PausedClasses, o)
			if scope.Marks(u.GetAnnotations()) {
				h.markedClasses = append(h.markedClasses, o)
			}
		}
	}
	h.Clusters, err = capi.Clusters(ctx, c, scope.Namespace)
	h.Foreign = foreign(graph, moves, h.Clusters, scope)
	return h, err
}

// BeingDeleted reports whether a move or a user has begun to delete an object.
func BeingDeleted(u *unstructured.Unstructured) bool {
	_, marked := u.GetAnnotations()[clusterctlv1.DeleteForMoveAnnotation]
	return marked || u.GetDeletionTimestamp() != nil
}

// Empty reports whether the cluster holds no object and no Cluster of the scope.
func (h Holding) Empty() bool { return len(h.Objects) == 0 && len(h.Clusters) == 0 }

// Cluster returns the Cluster of the given name; nil if there is none.
func (h Holding) Cluster(name string) *capi.Cluster {
	for i := range h.Clusters {
		if h.Clusters[i].Name == name {
			return &h.Clusters[i]
		}
	}
	return nil
}

// HasPaused reports whether any Cluster is paused.
func (h Holding) HasPaused() bool {
	return slices.ContainsFunc(h.Clusters, func(c capi.Cluster) bool { return c.Paused })
}

// HasActive reports whether any Cluster is not paused. A move pauses all of them before it creates anything.
func (h Holding) HasActive() bool {
	return slices.ContainsFunc(h.Clusters, func(c capi.Cluster) bool { return !c.Paused })
}

// Paused returns all paused ClusterClasses and Clusters. A move pauses the ClusterClasses first.
func (h Holding) Paused() []capi.Object {
	all := slices.Clone(h.PausedClasses)
	for _, c := range h.Clusters {
		if c.Paused {
			all = append(all, c.Object)
		}
	}
	return all
}

// PausedByMove returns the ClusterClasses and Clusters that a move of the scope has paused and not resumed.
func (h Holding) PausedByMove(scope Scope) []capi.Object {
	all := slices.Clone(h.markedClasses)
	for _, c := range h.Clusters {
		if c.Paused && scope.Marks(c.Annotations) {
			all = append(all, c.Object)
		}
	}
	return all
}

// PausedByHand returns the paused Clusters and ClusterClasses that bear no mark of a move: only a person resumes them.
func (h Holding) PausedByHand(scope Scope) []capi.Object {
	byMove := h.PausedByMove(scope)
	return slices.DeleteFunc(h.Paused(), func(o capi.Object) bool { return slices.Contains(byMove, o) })
}

// OwnPausedByHand reports whether a person paused the management cluster's own Cluster.
func (h Holding) OwnPausedByHand(scope Scope) bool {
	own := h.Cluster(scope.Cluster)
	return own != nil && own.Paused && !scope.Marks(own.Annotations)
}

// Moved returns the objects that only a move can have brought here.
func (h Holding) Moved() []capi.Object {
	var all []capi.Object
	for _, o := range h.Objects {
		if !h.Foreign[o.Key()] {
			all = append(all, o)
		}
	}
	return all
}

// Own returns the management cluster's own Cluster, as a cluster holds it; nil when it holds none.
func Own(ctx context.Context, c client.Reader, scope Scope) (*capi.Cluster, error) {
	all, err := capi.Clusters(ctx, c, scope.Namespace)
	if err != nil {
		return nil, err
	}
	return Holding{Clusters: all}.Cluster(scope.Cluster), nil
}

// Others returns the Clusters of all namespaces but the management cluster's own.
func Others(ctx context.Context, c client.Reader, scope Scope) ([]capi.Cluster, error) {
	all, err := capi.Clusters(ctx, c, "")
	return slices.DeleteFunc(all, func(c capi.Cluster) bool {
		return c.Namespace == scope.Namespace && c.Name == scope.Cluster
	}), err
}

// OwnObjects returns the objects of the management cluster's own Cluster, with its ClusterClass.
func OwnObjects(graph *capi.Graph, scope Scope) []capi.Object {
	byUID := map[types.UID]capi.Object{}
	class := ""
	for _, o := range graph.All() {
		byUID[o.UID] = o
		if u, _ := graph.Get(o); scope.IsOwnCluster(o) {
			class, _, _ = unstructured.NestedString(u.Object, "spec", "topology", "classRef", "name")
		}
	}
	var own []capi.Object
	for _, o := range graph.Moves() {
		if clusterOf(graph, byUID, o) == scope.Cluster || o.Kind == clusterv1.ClusterClassKind && o.Name == class {
			own = append(own, o)
		}
	}
	return own
}

// foreign returns the objects that a cluster may have without a move of the scope. These are the objects of another
// active Cluster, because a move resumes none before it has deleted everything at its source. They are also the objects
// of no Cluster, because a move deletes these last.
func foreign(graph *capi.Graph, moves []capi.Object, all []capi.Cluster, scope Scope) map[capi.Key]bool {
	paused := map[string]bool{scope.Cluster: true}
	for _, c := range all {
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

// clusterOf returns the name of the Cluster that an object belongs to, by its label, its first owner or the name of a
// Secret. It returns "" if the object belongs to none.
func clusterOf(graph *capi.Graph, byUID map[types.UID]capi.Object, o capi.Object) string {
	for range len(byUID) { // each step follows one owner; owners may form a cycle
		if isCluster(o) {
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
