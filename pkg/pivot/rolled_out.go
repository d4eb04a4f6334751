package pivot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/health"
)

// RolledOut looks, from the API of a management cluster, for machines that are still to be made, replaced or deleted. Machines that are replaced one after the other are all ready between two
// of them, so SelfManaged alone does not see that there is more to come. What waits for somebody's hand is left out.
func RolledOut(ctx context.Context, target client.Client, scope Scope) ([]Unmet, error) {
	unmet, err := rolledOut(ctx, target, scope)
	if err != nil {
		return nil, fmt.Errorf("see whether all machines are as they should be: %w", err)
	}
	return unmet, nil
}

func rolledOut(ctx context.Context, target client.Client, scope Scope) ([]Unmet, error) {
	clusters, err := capi.Clusters(ctx, target, scope.Namespace)
	if err != nil {
		return nil, err
	}
	own := Holding{Clusters: clusters}.Cluster(scope.Cluster)
	if own == nil {
		return nil, nil
	}
	graph, err := capi.Discover(ctx, target, scope.Namespace)
	if err != nil {
		return nil, err
	}
	var unmet []Unmet
	for _, replicas := range own.Replicas {
		if _, message := replicas.Lack(); message != "" && !byHand(graph, scope, replicas.Of) {
			unmet = append(unmet, Unmet{Aspect: AspectMachines, Object: own.String(), Message: message, Waiting: true})
		}
	}
	if own.ControlPlane == nil || byHand(graph, scope, "controlPlane") {
		return unmet, nil
	}
	plane, err := capi.ReadControlPlane(ctx, target, own.Namespace, *own.ControlPlane)
	if err != nil {
		return nil, err
	}
	if old := plane.SpecUpToDate; old.Status == "False" { // the Cluster's count may be an older one: RKE2 does not say that none is up to date
		unmet = append(unmet, Unmet{Aspect: AspectControlPlane, Object: plane.String(), Message: old.Message, Waiting: true})
	}
	return unmet, nil
}

// byHand tells whether the control plane, or some of the workers, are made and replaced only when somebody does something: it is paused, has the strategy OnDelete, or is a machine of nobody's.
func byHand(graph *capi.Graph, scope Scope, of string) bool {
	return slices.ContainsFunc(ownObjects(graph, scope), func(o capi.Object) bool {
		u, _ := graph.Get(o)
		switch o.Kind {
		case "MachineDeployment":
			strategy, _, _ := unstructured.NestedString(u.Object, "spec", "rollout", "strategy", "type")
			return of == "workers" && (health.Paused(u) || strategy == "OnDelete")
		case "MachineSet", "Machine":
			return of == "workers" && slices.ContainsFunc(u.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Kind == clusterv1.ClusterKind })
		}
		return of == "controlPlane" && strings.HasSuffix(o.Kind, "ControlPlane") && health.Paused(u)
	})
}
