package rollout

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// recreateFirstMachine deletes the machine of a control plane that has never come up, if the values that it was made
// with have changed: Cluster API waits for that machine and makes no other. It returns the machine's name, or "" if
// there is nothing to do. If there are several machines, a node, or no status yet, the control plane may have come up,
// whatever it reports.
func recreateFirstMachine(ctx context.Context, c *kube.Cluster, seen *unstructured.Unstructured) (string, error) {
	controlPlane := &unstructured.Unstructured{}
	controlPlane.SetGroupVersionKind(seen.GroupVersionKind())
	if err := c.Get(ctx, client.ObjectKeyFromObject(seen), controlPlane); err != nil {
		return "", fmt.Errorf("get %s %s: %w", seen.GetKind(), client.ObjectKeyFromObject(seen), err)
	}
	if initialized(controlPlane) || controlPlane.GetDeletionTimestamp() != nil || health.Paused(controlPlane) ||
		len(health.Conditions(controlPlane)) == 0 {
		return "", nil
	}
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"})
	key := client.ObjectKey{Namespace: controlPlane.GetNamespace(), Name: controlPlane.GetLabels()[clusterLabel]}
	if err := c.Get(ctx, key, cluster); err != nil {
		return "", fmt.Errorf("get Cluster %s: %w", key, err)
	}
	if initialized(cluster) || cluster.GetDeletionTimestamp() != nil || health.Paused(cluster) {
		return "", nil
	}
	machines := &unstructured.UnstructuredList{}
	machines.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2",
		Kind: "MachineList"})
	if err := c.List(ctx, machines, client.InNamespace(controlPlane.GetNamespace())); err != nil {
		return "", fmt.Errorf("list the machines of %s %s: %w", seen.GetKind(), client.ObjectKeyFromObject(seen), err)
	}
	var its []*unstructured.Unstructured
	for i := range machines.Items {
		for _, owner := range machines.Items[i].GetOwnerReferences() {
			if owner.UID == controlPlane.GetUID() {
				its = append(its, &machines.Items[i])
			}
		}
	}
	if len(its) != 1 || its[0].GetDeletionTimestamp() != nil || !beforeNode(its[0]) {
		return "", nil
	}
	machine := its[0]
	old, err := outdated(ctx, c, controlPlane, machine)
	if err != nil || !old {
		return "", err
	}
	uid, version := machine.GetUID(), machine.GetResourceVersion()
	if err := c.Delete(ctx, machine, client.Preconditions{UID: &uid, ResourceVersion: &version}); err != nil {
		return "", fmt.Errorf("delete Machine %s, made with outdated values: %w",
			client.ObjectKeyFromObject(machine), err)
	}
	return machine.GetName(), nil
}

// renewing returns f.renew in the form of nudgeAll. It reports the machines that are recreated.
func (f Follower) renewing(report pipeline.Reporter) func(context.Context, *unstructured.Unstructured) error {
	if f.renew == nil {
		return nil
	}
	return func(ctx context.Context, controlPlane *unstructured.Unstructured) error {
		machine, err := f.renew(ctx, controlPlane)
		if machine != "" {
			report.Progress("Machine %s never came up, and the values it was made with have changed: deleted, so that "+
				"Cluster API makes another", machine)
		}
		return err
	}
}

// ofCluster reports whether an object belongs to this Cluster.
func ofCluster(o *unstructured.Unstructured, cluster Key) bool {
	return o.GetNamespace() == cluster.Namespace && cluster.Name != "" && o.GetLabels()[clusterLabel] == cluster.Name
}

// clusterLabel names the Cluster that an object belongs to.
const clusterLabel = "cluster.x-k8s.io/cluster-name"

// initialized reports whether the API server of a control plane or of a Cluster has ever answered.
func initialized(controlPlane *unstructured.Unstructured) bool {
	for _, path := range [][]string{{"status", "initialization", "controlPlaneInitialized"}, {"status", "initialized"},
		{"status", "ready"}} {
		if is, _, _ := unstructured.NestedBool(controlPlane.Object, path...); is {
			return true
		}
	}
	return health.ConditionOf(controlPlane, "Initialized").True() ||
		health.ConditionOf(controlPlane, "ControlPlaneInitialized").True() ||
		health.ConditionOf(controlPlane, "Available").True()
}

// beforeNode reports whether a machine is known not to have become a node.
func beforeNode(machine *unstructured.Unstructured) bool {
	node, _, _ := unstructured.NestedMap(machine.Object, "status", "nodeRef")
	phase, _, _ := unstructured.NestedString(machine.Object, "status", "phase")
	return len(node) == 0 && slices.Contains([]string{"Pending", "Provisioning", "Provisioned"}, phase)
}

// outdated reports whether a machine is known to differ from what its control plane specifies now: its condition says
// so, or it was made from another template.
func outdated(ctx context.Context, c *kube.Cluster, controlPlane, machine *unstructured.Unstructured) (bool, error) {
	if upToDate := health.ConditionOf(machine, "UpToDate"); upToDate.Status == "False" {
		return true, nil
	}
	wanted, _, _ := unstructured.NestedString(controlPlane.Object, "spec", "machineTemplate", "spec",
		"infrastructureRef", "name")
	if wanted == "" { // the older contract
		wanted, _, _ = unstructured.NestedString(controlPlane.Object, "spec", "machineTemplate", "infrastructureRef",
			"name")
	}
	made, err := infrastructureOf(ctx, c, machine)
	if wanted == "" || made == nil || err != nil {
		return false, err
	}
	of := made.GetAnnotations()["cluster.x-k8s.io/cloned-from-name"]
	return of != "" && of != wanted, nil
}

// infrastructureOf returns the infrastructure machine of a Machine. Nil means that it names none, or that this does not
// exist.
func infrastructureOf(ctx context.Context, c *kube.Cluster, machine *unstructured.Unstructured) (
	*unstructured.Unstructured, error) {
	r := health.InfrastructureOf(machine)
	if r.Name == "" {
		return nil, nil
	}
	mapping, err := c.RESTMapper().RESTMapping(schema.GroupKind{Group: r.Group, Kind: r.Kind})
	if err != nil {
		return nil, fmt.Errorf("find %s, the infrastructure of Machine %s: %w", r,
			client.ObjectKeyFromObject(machine), err)
	}
	made := &unstructured.Unstructured{}
	made.SetGroupVersionKind(mapping.GroupVersionKind)
	err = c.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, made)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get %s, the infrastructure of Machine %s: %w", r,
			client.ObjectKeyFromObject(machine), err)
	}
	return made, nil
}
