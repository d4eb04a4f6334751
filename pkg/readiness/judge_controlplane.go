package readiness

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// staticPods are the parts of a control plane that a kubelet runs from files, by the names of their Pods without the
// node's name.
var staticPods = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"}

// purposes are what fails without them.
var purposes = map[string]string{
	"kube-apiserver":          "the node serves no API",
	"kube-controller-manager": "no Deployment, Job or Node is reconciled, and their status is outdated",
	"kube-scheduler":          "no new Pod is scheduled",
	"etcd":                    "etcd has one member less",
}

// judgeControlPlane finds parts of the control plane that do not run on a node that should run them. Without a static
// Pod of kube-apiserver or etcd on any node, the control plane runs in another way.
func judgeControlPlane(v *view) []Finding {
	if !v.listed("", "Pod") || !v.listed("", "Node") {
		return nil
	}
	var nodes []string
	silent := map[string]bool{}
	for _, n := range v.list("", "Node") {
		if isControlPlane(n) && n.GetDeletionTimestamp() == nil && v.age(n.GetCreationTimestamp().Time) > startTime {
			nodes = append(nodes, n.GetName())
			_, silent[n.GetName()] = v.silentKubelet(n)
		}
	}
	pod := func(part, node string) *unstructured.Unstructured {
		return v.objects[health.Ref{Kind: "Pod", Namespace: systemNamespace, Name: part + "-" + node}]
	}
	static := slices.ContainsFunc(nodes, func(node string) bool {
		return pod("kube-apiserver", node) != nil ||
			pod("etcd", node) != nil
	})
	if !static {
		return nil
	}
	alive, all := v.controlPlanes()
	var found []Finding
	for _, part := range staticPods {
		if part == "etcd" && !slices.ContainsFunc(nodes, func(node string) bool { return pod(part, node) != nil }) {
			continue // etcd runs elsewhere
		}
		running := 0
		for _, node := range alive {
			if p := pod(part, node); p != nil && health.ConditionOf(p, "Ready").Status == "True" {
				running++
			}
		}
		for _, node := range nodes {
			if silent[node] && pod(part, node) != nil {
				continue // nobody reports whether it runs; that is a finding about the node
			}
			if f, wrong := v.staticPod(part, node, pod(part, node)); wrong {
				found = append(found, f.orDegraded(part, node, running, all))
			}
		}
	}
	return found
}

// orDegraded turns the finding into a warning if other nodes make up for the missing part: the cluster acts, with less
// redundancy. etcd accepts writes while most of its members run. Of every other part one is enough.
func (f Finding) orDegraded(part, node string, running, all int) Finding {
	enough := running > 0
	if part == "etcd" {
		enough = 2*running > all
	}
	if enough {
		f.Severity = Warning
		f.Cause = fmt.Sprintf("%s does not run on the control-plane node %s: it runs on %d of %d", part, node, running,
			all)
	}
	return f
}

// controlPlanes returns the control-plane nodes with a living kubelet, and the number of all, without those that are
// being deleted.
func (v *view) controlPlanes() (alive []string, all int) {
	for _, n := range v.list("", "Node") {
		if !isControlPlane(n) || v.leaving(n) {
			continue
		}
		all++
		if _, silent := v.silentKubelet(n); !silent {
			alive = append(alive, n.GetName())
		}
	}
	return alive, all
}

func isControlPlane(node *unstructured.Unstructured) bool {
	_, is := node.GetLabels()["node-role.kubernetes.io/control-plane"]
	return is
}

func (v *view) staticPod(part, node string, pod *unstructured.Unstructured) (Finding, bool) {
	f := Finding{ID: "control-plane-part-missing", Object: health.Ref{Kind: "Pod", Namespace: systemNamespace,
		Name: part + "-" + node}, Severity: Blocking, Certain: true,
		Cause: fmt.Sprintf("%s does not run on the control-plane node %s: %s", part, node, purposes[part]),
		Remedy: fmt.Sprintf("Put its manifest back on the node (/etc/kubernetes/manifests/%s.yaml with kubeadm), or "+
			"replace the machine.", part)}
	if pod == nil {
		return f, true
	}
	if ready := health.ConditionOf(pod, "Ready"); ready.Status == "True" || v.age(since(pod, "Ready")) < startTime {
		return Finding{}, false
	}
	f.ID, f.Message = "control-plane-part-down", joined(v.warning(f.Object), containerState(pod))
	f.Remedy = fmt.Sprintf("Check its last log: kubectl -n %s logs %s --previous; if the API does not have it, "+
		"`crictl logs` on the node does.", systemNamespace, pod.GetName())
	f.Transient = v.age(since(pod, "Ready")) < restTime
	return f, true
}

// containerState returns the state of the first container that is not ready and reports a reason.
func containerState(pod *unstructured.Unstructured) string {
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, c := range maps(pod, "status", field) {
			if c["ready"] == true {
				continue
			}
			for _, state := range []string{"waiting", "terminated"} {
				reason, _, _ := unstructured.NestedString(c, "state", state, "reason")
				message, _, _ := unstructured.NestedString(c, "state", state, "message")
				if reason != "" {
					return strings.TrimSpace(reason + ": " + message)
				}
			}
		}
	}
	return ""
}
