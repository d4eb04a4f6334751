package selfmanaged

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/health"
)

// checkMachines checks whether the answering cluster consists of its own Machines. The node of each Machine must be a
// node of this same API, with the same provider ID.
func checkMachines(ctx context.Context, c client.Client, scope clusters.Scope) ([]Unmet, error) {
	machines, err := capi.Machines(ctx, c, scope.Namespace)
	if err != nil {
		return nil, err
	}
	machines = slices.DeleteFunc(machines, func(m capi.Machine) bool { return m.Cluster != scope.Cluster })
	if len(machines) == 0 {
		return []Unmet{{
			Aspect: AspectMachines, Object: fmt.Sprintf("Cluster %s/%s", scope.Namespace, scope.Cluster),
			Message: "has no Machines", Waiting: true,
		}}, nil
	}
	var unmet []Unmet
	for _, m := range machines {
		one, err := checkMachine(ctx, c, m)
		if err != nil {
			return nil, err
		}
		unmet = append(unmet, one...)
	}
	return unmet, nil
}

func checkMachine(ctx context.Context, c client.Client, m capi.Machine) ([]Unmet, error) {
	if m.Node == "" {
		return []Unmet{{Aspect: AspectMachines, Object: m.String(), Message: "has no node yet", Waiting: true}}, nil
	}
	var unmet []Unmet
	if !m.Ready.True() {
		unmet = append(unmet, Unmet{Aspect: AspectMachines, Object: m.String(), Message: m.Ready.String(),
			Waiting: true})
	}
	node := &unstructured.Unstructured{}
	node.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Node"})
	err := c.Get(ctx, client.ObjectKey{Name: m.Node}, node)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("get Node %s: %w", m.Node, err)
	}
	problem := Unmet{Aspect: AspectNodes, Object: "Node " + m.Node, Waiting: true}
	providerID, _, _ := unstructured.NestedString(node.Object, "spec", "providerID")
	ready := health.ConditionOf(node, string(corev1.NodeReady))
	switch {
	case err != nil:
		problem.Message = fmt.Sprintf("is the node of %s, but not one of this cluster", m)
	case m.ProviderID != "" && providerID != m.ProviderID:
		problem.Message = fmt.Sprintf("has the provider ID %q, but that of %s is %q", providerID, m, m.ProviderID)
	case !ready.True():
		problem.Message = ready.String()
	default:
		return unmet, nil
	}
	return append(unmet, problem), nil
}
