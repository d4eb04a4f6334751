package pivot

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// lookAtControllers finds what belongs to the Cluster and moves with it, and was not reconciled here as it is now.
//
// A move creates objects without their status, and paused. So status.observedGeneration, which controllers write when
// they have reconciled an object and not while it is paused, is unset until then, and a condition Paused=True that is
// left says that nobody has seen the end of the pause. Cluster API's own controllers, and those of RKE2, always write
// that generation. Where the controllers of others write none, as those of infrastructure providers, their objects are
// not judged here: the Ready condition of a Machine and the Available condition of the Cluster are made from what they
// say, here too.
//
// Nothing has to make the controllers look: each of them watches the Cluster for the end of its pause. What a user
// paused, and what belongs to other Clusters, is left out.
func lookAtControllers(ctx context.Context, c client.Client, scope Scope) ([]Unmet, error) {
	graph, err := capi.Discover(ctx, c, scope.Namespace)
	if err != nil {
		return nil, err
	}
	var unmet []Unmet
	for _, o := range ownObjects(graph, scope) {
		if problem := notReconciled(graph, o); problem != "" {
			unmet = append(unmet, Unmet{Aspect: AspectControllers, Object: o.String(), Message: problem, Waiting: true})
		}
	}
	return unmet, nil
}

// ownObjects are those of the management cluster's own Cluster, with its ClusterClass.
func ownObjects(graph *capi.Graph, scope Scope) []capi.Object {
	byUID := map[types.UID]capi.Object{}
	class := ""
	for _, o := range graph.All() {
		byUID[o.UID] = o
		if u, _ := graph.Get(o); isOwnCluster(o, scope) {
			class, _, _ = unstructured.NestedString(u.Object, "spec", "topology", "classRef", "name")
		}
	}
	var own []capi.Object
	for _, o := range graph.Moves() {
		if clusterOf(graph, byUID, o) == scope.Cluster || o.Kind == "ClusterClass" && o.Name == class {
			own = append(own, o)
		}
	}
	return own
}

// notReconciled returns what an object's controller has yet to do, "" for nothing.
func notReconciled(graph *capi.Graph, o capi.Object) string {
	u, _ := graph.Get(o)
	observed, generation := graph.Observed(o), u.GetGeneration()
	switch {
	case annotations.HasPaused(u):
		return ""
	case observed.Paused:
		return "its controller has not seen yet that it is not paused any more"
	case observed.Generation == 0 && generation > 0 && o.SaysGeneration():
		return "its controller has not reconciled it in this cluster yet"
	case observed.Generation > 0 && observed.Generation < generation:
		return fmt.Sprintf("its controller has not reconciled its latest spec yet (generation %d, it has seen %d)",
			generation, observed.Generation)
	}
	return ""
}
