package pivot

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Replaced describes the Machines that a move brought and that are gone or replaced; none if no Machines were noted. A
// move replaces no machine, but new values may, so a person has to judge.
//
// A move is verified right after it ends. From then on the target's controllers may act, so the Machines stay noted on
// the Cluster until ForgetMachines.
func Replaced(ctx context.Context, target client.Client, scope clusters.Scope) ([]string, error) {
	cluster, err := ownCluster(ctx, clusters.Side{Client: target}, scope)
	if err != nil {
		return nil, fmt.Errorf("read the target: %w", err)
	}
	if cluster == nil || cluster.Annotations[owned.MachinesAnnotation] == "" {
		return nil, nil
	}
	var noted map[string]string
	if err := json.Unmarshal([]byte(cluster.Annotations[owned.MachinesAnnotation]), &noted); err != nil {
		return []string{fmt.Sprintf("the annotation %s of %s was changed: which Machines were moved is not known",
			owned.MachinesAnnotation, cluster)}, nil
	}
	machines, err := capi.Machines(ctx, target, scope.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read the target: %w", err)
	}
	current := map[string]capi.Machine{}
	for _, m := range machines {
		current[m.Name] = m
	}
	var replaced []string
	for _, name := range slices.Sorted(maps.Keys(noted)) {
		m, exists := current[name]
		switch {
		case !exists:
			replaced = append(replaced, fmt.Sprintf("Machine %s/%s, which the pivot moved, is not there any more",
				scope.Namespace, name))
		case noted[name] != "" && m.ProviderID != noted[name]:
			replaced = append(replaced, fmt.Sprintf("%s had the provider ID %q when the pivot moved it, and has %q now",
				m, noted[name], m.ProviderID))
		}
	}
	return replaced, nil
}

// ForgetMachines removes the note that Replaced reads.
func ForgetMachines(ctx context.Context, target client.Client, scope clusters.Scope) error {
	cluster, err := ownCluster(ctx, clusters.Side{Client: target}, scope)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	if cluster == nil || cluster.Annotations[owned.MachinesAnnotation] == "" {
		return nil
	}
	return annotate(ctx, clusters.Side{Client: target}, cluster.Object, map[string]any{owned.MachinesAnnotation: nil})
}

// movedMachines returns the note: the own Cluster's Machines among moved, with their provider IDs on the target; "" for
// a Machine that is gone already.
func movedMachines(ctx context.Context, target clusters.Side, scope clusters.Scope, moved []capi.Object) (string,
	error) {
	noted := map[string]string{}
	for _, o := range moved {
		if o.Kind == "Machine" && o.Key().Group == clusterv1.GroupVersion.Group {
			noted[o.Name] = ""
		}
	}
	machines, err := capi.Machines(ctx, target.Client, scope.Namespace)
	if err != nil {
		return "", err
	}
	for _, m := range machines {
		if _, moved := noted[m.Name]; moved && m.Cluster == scope.Cluster {
			noted[m.Name] = m.ProviderID
		} else {
			delete(noted, m.Name) // a tenant's
		}
	}
	text, err := json.Marshal(noted)
	return string(text), err
}

// annotate sets annotations, and removes those that are nil.
func annotate(ctx context.Context, side clusters.Side, o capi.Object, values map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": values}})
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(o.APIVersion)
	u.SetKind(o.Kind)
	u.SetNamespace(o.Namespace)
	u.SetName(o.Name)
	return side.Client.Patch(ctx, u, client.RawPatch(types.MergePatchType, patch))
}
