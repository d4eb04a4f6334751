package rollout

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// machinesOf returns the state of a Cluster, or Progressing if its machine counts are not as desired. If a part of it
// waits for a manual step, only the number of ready machines counts.
func (v *view) machinesOf(cluster *unstructured.Unstructured, state health.State) health.State {
	for _, part := range []string{"controlPlane", "workers"} {
		count := func(field string) int64 {
			n, _, _ := unstructured.NestedInt64(cluster.Object, "status", part, field)
			return n
		}
		replicas := health.Replicas{Of: part, Desired: count("desiredReplicas"), Ready: count("readyReplicas"),
			UpToDate: count("upToDateReplicas"), All: count("replicas")}
		if v.leftAsIs(cluster, part) {
			replicas.UpToDate, replicas.All = replicas.Desired, min(replicas.All, replicas.Desired)
		}
		if reason, message := replicas.Missing(); reason != "" {
			return health.State{Status: health.Progressing, Reason: reason, Message: message}
		}
	}
	return state
}

// leftAsIs reports whether the control plane or the workers of a Cluster wait for a manual step.
func (v *view) leftAsIs(cluster *unstructured.Unstructured, part string) bool {
	plane, _, _ := unstructured.NestedString(cluster.Object, "spec", "controlPlaneRef", "name")
	for _, o := range v.objects {
		of := "workers"
		if _, machine := o.GetLabels()[clusterv1.MachineControlPlaneLabel]; machine ||
			o.GroupVersionKind().Group == controlPlaneGroup {
			of = "controlPlane"
		}
		name, _, _ := unstructured.NestedString(o.Object, "spec", "clusterName")
		its := name == cluster.GetName() || o.GroupVersionKind().Group == controlPlaneGroup && o.GetName() == plane
		if its && of == part && o.GetNamespace() == cluster.GetNamespace() && health.LeftAsIs(o) {
			return true
		}
	}
	return false
}

// countAgain compares the Clusters with their machines again after another object in their namespace has changed: the
// Cluster itself may not change any more. It returns those whose state is different now.
func (v *view) countAgain(c kube.Change) []event.Object {
	if c.Object == nil || c.Object.GetKind() == "Cluster" {
		return nil
	}
	var other []event.Object
	for _, k := range sortedKeys(v.objects) {
		o := v.objects[k]
		if k.Kind != "Cluster" || k.Namespace != c.Object.GetNamespace() {
			continue
		}
		now, state := v.states[k], v.stateOf(k, o)
		if now.State == state.Status && now.Message == state.Message {
			continue
		}
		now.State, now.Reason, now.Message = state.Status, state.Reason, state.Message
		v.states[k] = now
		other = append(other, now)
	}
	return other
}

// lacksMachines reports whether a goal is a Cluster with an unready Machine, or with Machines that are not known yet. A
// control plane of the older contract counts machines that have no node yet.
func (v *view) lacksMachines(goal Key) bool {
	if goal.Kind != "Cluster" {
		return false
	}
	if !v.listed["machines"] {
		return true
	}
	for k, o := range v.objects {
		of, _, _ := unstructured.NestedString(o.Object, "spec", "clusterName")
		if k.Kind == "Machine" && k.Namespace == goal.Namespace && of == goal.Name &&
			v.states[k].State != health.Ready {
			return true
		}
	}
	return false
}
