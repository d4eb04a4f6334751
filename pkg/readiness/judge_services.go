package readiness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// judgeClusterServices finds missing services that every Pod needs: the cluster's DNS, and the implementation of
// Services.
func judgeClusterServices(v *view) []Finding {
	var found []Finding
	if v.listed("", "Service") && len(v.list("", "Node")) > 0 && len(v.list("", "Pod")) > 0 {
		found = append(found, v.dns()...)
	}
	proxy := health.Ref{Group: "apps", Kind: "DaemonSet", Namespace: systemNamespace, Name: "kube-proxy"}
	if v.absent(proxy) && v.objects[health.Ref{Kind: "ConfigMap", Namespace: systemNamespace,
		Name: "kube-proxy"}] != nil {
		found = append(found, Finding{ID: "kube-proxy-missing", Object: proxy, Severity: Blocking, Certain: true,
			Cause:  "the DaemonSet kube-proxy does not exist, so changes of Services do not reach the nodes",
			Remedy: "Create it again on a control-plane node: kubeadm init phase addon kube-proxy"})
	}
	return found
}

func (v *view) dns() []Finding {
	var services []*unstructured.Unstructured
	for _, s := range v.list("", "Service") {
		if s.GetNamespace() == systemNamespace && s.GetLabels()["k8s-app"] == "kube-dns" {
			services = append(services, s)
		}
	}
	if len(services) == 0 {
		return []Finding{{ID: "dns-missing", Object: health.Ref{Kind: "Service", Namespace: systemNamespace,
			Name: "kube-dns"}, Severity: Blocking,
			Cause: "the cluster's DNS has no Service, so no Pod resolves a name", Remedy: "Create it again on a " +
				"control-plane node: kubeadm init phase addon coredns (RKE2: its chart rke2-coredns does)"}}
	}
	for _, s := range services {
		if b := v.backend(s.GetNamespace(), s.GetName()); b.gone {
			return []Finding{{ID: "dns-without-endpoints", Object: health.RefOf(s), Severity: Blocking, Certain: true,
				Transient: b.starting, Message: b.why, behind: b.workload,
				Cause: "the cluster's DNS has no Pod that is ready, so no Pod resolves a name: Flux fetches nothing, " +
					"and no controller reaches a webhook by name",
				Remedy: fmt.Sprintf(
					"Check its Pods and the replicas of its Deployment: kubectl -n %s get deployments,pods -l "+
						"k8s-app=kube-dns", systemNamespace)}}
		}
	}
	return nil
}

// backend is the state of what a Service selects.
type backend struct {
	gone     bool // known to have no ready address
	starting bool // one of its Pods was just created
	why      string
	workload health.Ref // that should answer
}

// workloadOf returns the first workload whose Pods carry all labels. Without one, or without labels, it returns the
// zero Ref.
func (v *view) workloadOf(namespace string, labels map[string]string) health.Ref {
	for _, u := range v.workloads() {
		made, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "metadata", "labels")
		if u.GetNamespace() == namespace && len(labels) > 0 && carries(made, labels) {
			return health.RefOf(u)
		}
	}
	return health.Ref{}
}

// backend looks for a ready address of a Service. Unknown never counts as gone.
func (v *view) backend(namespace, name string) backend {
	service := v.objects[health.Ref{Kind: "Service", Namespace: namespace, Name: name}]
	if service == nil {
		return backend{gone: v.listed("", "Service"), why: fmt.Sprintf("the Service %s/%s does not exist", namespace,
			name)}
	}
	if text(service, "spec", "type") == "ExternalName" || !v.listed("discovery.k8s.io", "EndpointSlice") {
		return backend{}
	}
	for _, slice := range v.list("discovery.k8s.io", "EndpointSlice") {
		if slice.GetNamespace() != namespace || slice.GetLabels()["kubernetes.io/service-name"] != name {
			continue
		}
		for _, endpoint := range maps(slice, "endpoints") {
			if ready, said, _ := unstructured.NestedBool(endpoint, "conditions", "ready"); ready || !said {
				return backend{}
			}
		}
	}
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	pods := v.selected(namespace, selector)
	b := backend{gone: true, workload: v.workloadOf(namespace, selector),
		why: fmt.Sprintf("the Service %s/%s has no ready endpoint, and selects %d Pods", namespace, name, len(pods))}
	for _, pod := range pods {
		b.starting = b.starting || v.age(pod.GetCreationTimestamp().Time) < startTime
		if state := containerState(pod); state != "" {
			b.why += "; Pod " + pod.GetName() + " is " + state
		}
	}
	return b
}
