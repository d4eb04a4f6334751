package selfmanaged

import (
	"context"
	"fmt"

	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Controllers finds the Cluster's objects that move with it and that are not reconciled here in their current
// state.
//
// A move creates objects without their status, and paused. Controllers write status.observedGeneration when they have
// reconciled an object, and not while it is paused. So it is unset until then. A leftover condition Paused=True means
// that no controller has processed the end of the pause.
//
// Cluster API's own controllers, and those of RKE2, always write that generation. If other controllers, such as those
// of infrastructure providers, write none, their objects are not checked here. The Ready condition of a Machine and the
// Available condition of the Cluster include what those objects report.
//
// No controller has to be triggered: each of them watches the Cluster for the end of its pause. What a user paused, and
// what belongs to other Clusters, is left out.
func Controllers(ctx context.Context, c client.Client, scope clusters.Scope) ([]Unmet, error) {
	graph, err := capi.DiscoverServed(ctx, c, scope.Namespace)
	if err != nil {
		return nil, err
	}
	var unmet []Unmet
	for _, o := range clusters.OwnObjects(graph, scope) {
		if problem := notReconciled(graph, o); problem != "" {
			unmet = append(unmet, Unmet{Aspect: AspectControllers, Object: o.String(), Message: problem, Waiting: true})
		}
	}
	return unmet, nil
}

// notReconciled returns what an object's controller still has to do; "" for nothing.
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
