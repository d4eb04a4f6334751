package readiness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// kubeletSilence is how long a kubelet may fail to renew its Lease. It renews every ten seconds, and the Lease lasts
// 40.
const kubeletSilence = 45 * time.Second

// judgeNodes finds nodes whose kubelet is silent, whether Kubernetes has marked them or not, and nodes that accept no
// Pods.
func judgeNodes(v *view) []Finding {
	var found []Finding
	free := 0
	nodes := v.list("", "Node")
	alive, all := v.controlPlanes()
	for _, n := range nodes {
		dead, isDead := v.silentKubelet(n)
		if isDead {
			if 2*len(alive) > all { // the other control-plane nodes act, and have the data
				dead.Severity = Warning
			}
			found = append(found, dead)
		}
		why := unschedulable(n)
		if why == "" && !isDead && health.ConditionOf(n, "Ready").Status == "True" {
			free++
		}
		if cordoned, _, _ := unstructured.NestedBool(n.Object, "spec", "unschedulable"); cordoned && !v.leaving(n) {
			found = append(found, Finding{ID: "node-cordoned", Object: health.RefOf(n), Severity: Warning,
				Certain: true,
				Cause:   "node " + n.GetName() + " is cordoned: no new Pod is scheduled on it", Message: v.pending(),
				Remedy: "If the maintenance is over: kubectl uncordon " + n.GetName()})
		}
	}
	if len(nodes) == 0 || free > 0 {
		return found
	}
	for i := range found {
		found[i].Severity = Blocking
	}
	for _, n := range nodes {
		if _, isDead := v.silentKubelet(n); isDead {
			continue // its taint says the same later
		}
		if why := unschedulable(n); why != "" && why != cordon {
			found = append(found, Finding{ID: "node-unschedulable", Object: health.RefOf(n), Severity: Blocking,
				Certain: true, Message: v.pending(), Transient: strings.Contains(why, "node."),
				Cause:  fmt.Sprintf("no node accepts a new Pod; node %s has %s", n.GetName(), why),
				Remedy: "Remove the taint, or its cause: kubectl describe node " + n.GetName()})
		}
	}
	return found
}

const cordon = "a cordon"

// unschedulable returns what keeps an ordinary Pod of a component off a node. The taint of control planes is tolerated.
func unschedulable(n *unstructured.Unstructured) string {
	if cordoned, _, _ := unstructured.NestedBool(n.Object, "spec", "unschedulable"); cordoned {
		return cordon
	}
	tolerated := []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master",
		"node-role.kubernetes.io/etcd", "CriticalAddonsOnly"}
	for _, taint := range maps(n, "spec", "taints") {
		key, _ := taint["key"].(string)
		effect, _ := taint["effect"].(string)
		if effect != "PreferNoSchedule" && !slices.Contains(tolerated, key) {
			return fmt.Sprintf("the taint %s:%s", key, effect)
		}
	}
	return ""
}

// leaving reports whether a node or its Machine is being deleted: then nothing needs it any more.
func (v *view) leaving(node *unstructured.Unstructured) bool {
	for _, m := range v.list("cluster.x-k8s.io", "Machine") {
		if m.GetDeletionTimestamp() != nil && text(m, "status", "nodeRef", "name") == node.GetName() {
			return true
		}
	}
	return node.GetDeletionTimestamp() != nil
}

// pending counts the Pods that wait for a node.
func (v *view) pending() string {
	var waiting []string
	for _, pod := range v.list("", "Pod") {
		if text(pod, "status", "phase") == "Pending" && text(pod, "spec", "nodeName") == "" {
			waiting = append(waiting, pod.GetNamespace()+"/"+pod.GetName())
		}
	}
	if len(waiting) == 0 {
		return ""
	}
	return fmt.Sprintf("%d Pods wait for a node, %s among them", len(waiting), waiting[0])
}

// silentKubelet returns the finding for a node whose kubelet does not renew its Lease. The kube-controller-manager
// marks such a node later, and only if it runs itself.
func (v *view) silentKubelet(n *unstructured.Unstructured) (Finding, bool) {
	const leases = "kube-node-lease"
	r := health.Ref{Group: "coordination.k8s.io", Kind: "Lease", Namespace: leases, Name: n.GetName()}
	lease := v.objects[r]
	if v.age(n.GetCreationTimestamp().Time) < startTime || !v.listed(r.Group, r.Kind) {
		return Finding{}, false
	}
	f := Finding{ID: "kubelet-silent", Object: health.RefOf(n), Severity: Warning, Certain: true,
		Remedy: "Check the kubelet on the machine (systemctl status kubelet; journalctl -u kubelet), start the machine, " +
			"or replace it."}
	if isControlPlane(n) {
		f.Severity = Blocking
	}
	if lease == nil {
		f.Cause, f.Certain = "the kubelet of node "+n.GetName()+" has no Lease", false
		return f, true
	}
	if silent := v.age(v.renewed(lease)); silent > kubeletSilence {
		f.Cause = fmt.Sprintf("the kubelet of node %s has not renewed its Lease for %s: the status of the node "+
			"and its Pods is outdated", n.GetName(), silent.Round(time.Second))
		return f, true
	}
	return Finding{}, false
}

// allSilent reports whether every kubelet is silent: then no Pod is known to run.
func (v *view) allSilent() bool {
	nodes := v.list("", "Node")
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n *unstructured.Unstructured) bool {
		_,
			isDead := v.silentKubelet(n)
		return !isDead
	})
}

// renewed returns when a Lease was last renewed, by the API server's clock if known: the holder's may be wrong.
func (v *view) renewed(lease *unstructured.Unstructured) time.Time {
	if w := v.writes[health.RefOf(lease)]; !w.Clock.IsZero() {
		return w.Clock
	}
	return moment(text(lease, "spec", "renewTime"))
}
