package readiness

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// staticPods are the parts of a control plane that a kubelet runs from files, by the names of their Pods without the
// node's.
var staticPods = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"}

// purposes are what does not happen without them.
var purposes = map[string]string{
	"kube-apiserver":          "the node serves no API",
	"kube-controller-manager": "no Deployment, Job or Node is looked after, and every status of them is old",
	"kube-scheduler":          "no new Pod gets a node",
	"etcd":                    "the cluster has one member less for its data",
}

// judgeControlPlane finds parts of the control plane that do not run on a node that is to run them. What no node runs
// as a static Pod runs elsewhere.
func judgeControlPlane(v *view) []Finding {
	if !v.listed("", "Pod") || !v.listed("", "Node") {
		return nil
	}
	var nodes []string
	for _, n := range v.list("", "Node") {
		if isControlPlane(n) && n.GetDeletionTimestamp() == nil && v.age(n.GetCreationTimestamp().Time) > startTime {
			nodes = append(nodes, n.GetName())
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
			continue // the data is elsewhere
		}
		running := 0
		for _, node := range alive {
			if p := pod(part, node); p != nil && health.ConditionOf(p, "Ready").Status == "True" {
				running++
			}
		}
		for _, node := range nodes {
			if f, wrong := v.staticPod(part, node, pod(part, node)); wrong {
				found = append(found, f.orDegraded(part, node, running, all))
			}
		}
	}
	return found
}

// orDegraded is a finding about a part of one node that the other nodes make up for: the cluster acts, and bears less.
// etcd takes writes while most of its members run; of every other part one is enough.
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

// controlPlanes are the control-plane nodes whose kubelets live, and how many there are, without those that leave.
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
	f.Remedy = fmt.Sprintf("See its last words: kubectl -n %s logs %s --previous; where the API does not have them, "+
		"`crictl logs` on the node does.", systemNamespace, pod.GetName())
	f.Transient = v.age(since(pod, "Ready")) < restTime
	return f, true
}

// containerState says of the first container of a Pod that does not run why.
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
