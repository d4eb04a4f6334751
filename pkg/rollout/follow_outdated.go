package rollout

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// dropOutdated removes all deprecated conditions of an infrastructure machine of a Cluster, if its deprecated Ready
// contradicts the current one. CAPD 1.14 writes ContainerProvisioned=False there when it sees a machine before its
// cluster's infrastructure, as it does after each move, and never corrects it. Cluster API from v1.14.1 on copies that
// to the Machine, and CAPRKE2 0.21, which reads only deprecated conditions, waits for it for ever.
func dropOutdated(ctx context.Context, c *kube.Cluster, cluster Key) error {
	machines := &unstructured.UnstructuredList{}
	machines.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2",
		Kind: "MachineList"})
	if err := c.List(ctx, machines, client.InNamespace(cluster.Namespace),
		client.MatchingLabels{clusterLabel: cluster.Name}); err != nil {
		return fmt.Errorf("list the Machines of %s in the %s cluster: %w", cluster.Name, c.Name, err)
	}
	var failed []error
	for i := range machines.Items {
		if machine := &machines.Items[i]; contradicts(machine, "InfrastructureReady") {
			failed = append(failed, dropOutdatedOf(ctx, c, machine))
		}
	}
	return errors.Join(failed...)
}

// dropOutdatedOf does this for the infrastructure machine that a Machine names.
func dropOutdatedOf(ctx context.Context, c *kube.Cluster, machine *unstructured.Unstructured) error {
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(machine.Object, "spec", "infrastructureRef", field)
		return value
	}
	kind := schema.GroupKind{Group: text("apiGroup"), Kind: text("kind")}
	served, err := c.RESTMapper().RESTMapping(kind)
	if err != nil {
		return fmt.Errorf("find the served version of %s in the %s cluster: %w", kind, c.Name, err)
	}
	infrastructure := &unstructured.Unstructured{}
	infrastructure.SetGroupVersionKind(served.GroupVersionKind)
	key := client.ObjectKey{Namespace: machine.GetNamespace(), Name: text("name")}
	if err := c.Get(ctx, key, infrastructure); err != nil {
		return fmt.Errorf("get %s %s in the %s cluster: %w", kind.Kind, key, c.Name, err)
	}
	if !contradicts(infrastructure, "Ready") {
		return nil
	}
	// the resource version makes the patch fail if the controller has written since
	patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q},"status":{"deprecated":null}}`,
		infrastructure.GetResourceVersion())
	if err := c.Status().Patch(ctx, infrastructure, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return fmt.Errorf("remove the outdated conditions of %s %s in the %s cluster: %w", kind.Kind, key, c.Name, err)
	}
	return nil
}

// contradicts reports whether a condition holds for the latest spec while the deprecated one of the same type says that
// it does not.
func contradicts(o *unstructured.Unstructured, conditionType string) bool {
	deprecated, _, _ := unstructured.NestedSlice(o.Object, "status", "deprecated", "v1beta1", "conditions")
	for _, each := range deprecated {
		condition, _ := each.(map[string]any)
		if condition["type"] == conditionType && condition["status"] == "False" {
			return health.ConditionOf(o, conditionType).True()
		}
	}
	return false
}
