package rollout

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// machinesOf holds the state of a Cluster against its machines. Where something waits for somebody's hand it need only
// have as many ready as are wanted.
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

// leftAsIs tells whether something of the control plane, or of the workers, of a Cluster waits for somebody's hand.
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

// countAgain holds the Clusters against their machines again when another object has changed, as a Cluster may not
// change any more itself. It returns those that have another state now.
func (v *view) countAgain(c kube.Change) []event.Object {
	if c.Object == nil || c.Object.GetKind() == "Cluster" {
		return nil
	}
	var other []event.Object
	for k, o := range v.objects {
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

// lacksMachines says whether a goal is a Cluster of which a Machine is not ready, or whose Machines are not known yet.
// A control plane of the older contract counts machines that have no node yet.
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
