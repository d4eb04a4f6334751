package readiness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
)

const (
	// startTime is how long a workload may take to start.
	startTime = time.Minute
	// restTime is how long a workload that does not run may still recover by itself.
	restTime = 5 * time.Minute
)

// judgeWorkloads finds workloads of installed components that do not run as specified, and missing controllers of Flux.
func judgeWorkloads(v *view) []Finding {
	var found []Finding
	for _, u := range v.workloads() {
		if u.GetDeletionTimestamp() != nil {
			continue
		}
		if f, wrong := v.workload(u); wrong {
			f.Object = health.RefOf(u)
			f.Message = joined(f.Message, v.warning(f.Object))
			found = append(found, f)
		}
	}
	if !v.listed("apps", "Deployment") {
		return found
	}
	for _, name := range flux.Controllers() {
		r := health.Ref{Group: "apps", Kind: "Deployment", Namespace: flux.Namespace, Name: name}
		if v.objects[r] == nil && v.hasFlux() {
			found = append(found, Finding{ID: "workload-missing", Object: r, Severity: Blocking, Certain: true,
				Cause:  "Deployment " + name + " does not exist, so Flux does not act",
				Remedy: "Install Flux again: run `cluster-init up`."})
		}
	}
	return found
}

// hasFlux reports whether Flux was installed: its namespace has one of its controllers or objects.
func (v *view) hasFlux() bool {
	for _, u := range v.Objects {
		if u.GetNamespace() == flux.Namespace &&
			(u.GetKind() == "Deployment" && u.GetLabels()[flux.VersionLabel] != "" ||
				strings.HasSuffix(u.GroupVersionKind().Group, ".toolkit.fluxcd.io")) {
			return true
		}
	}
	return false
}

func (v *view) workload(u *unstructured.Unstructured) (Finding, bool) {
	name := u.GetKind() + " " + u.GetName()
	get := fmt.Sprintf("kubectl -n %s describe %s %s", u.GetNamespace(), strings.ToLower(u.GetKind()), u.GetName())
	if u.GetKind() == "DaemonSet" {
		return v.daemonSet(u, name, get)
	}
	wanted := number(u, 1, "spec", "replicas")
	if wanted == 0 {
		by := v.writes[health.RefOf(u)].ReplicasBy
		if !v.core(u) && slices.Contains([]string{"kustomize-controller", "helm-controller"}, by) {
			return Finding{}, false // its manifest specifies 0
		}
		f := Finding{ID: "workload-scaled-down", Severity: Blocking, Certain: true,
			Cause: name + " has 0 replicas, so " + v.purpose(u) + " does not act"}
		if by != "" {
			f.Message = "spec.replicas was last set by " + by
		}
		f.Remedy = fmt.Sprintf("Scale it up: kubectl -n %s scale %s %s --replicas=1", u.GetNamespace(),
			strings.ToLower(u.GetKind()), u.GetName())
		return f, true
	}
	available := number(u, 0, "status", "readyReplicas")
	if u.GetKind() == "Deployment" {
		available = number(u, 0, "status", "availableReplicas")
	}
	paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused")
	for _, c := range health.Conditions(u) {
		if c.Type == "Progressing" && c.Reason == "ProgressDeadlineExceeded" && available >= wanted {
			return Finding{ID: "workload-stalled", Severity: Warning, Certain: true,
				Cause: name + " cannot start its latest version: " + c.Message, Remedy: "Check why: " + get}, true
		}
	}
	switch {
	case available < wanted:
		return v.unavailable(u, fmt.Sprintf("%s has %d of %d replicas available", name, available, wanted), get,
			available == 0)
	case paused:
		return Finding{ID: "workload-paused", Severity: Warning, Certain: true,
			Cause: name + " is paused, so changes of it have no effect",
			Remedy: fmt.Sprintf("Resume it: kubectl -n %s rollout resume %s %s", u.GetNamespace(),
				strings.ToLower(u.GetKind()), u.GetName())}, true
	}
	return Finding{}, false
}

func (v *view) daemonSet(u *unstructured.Unstructured, name, get string) (Finding, bool) {
	wanted, ready := number(u, 0, "status", "desiredNumberScheduled"), number(u, 0, "status", "numberReady")
	selector, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "spec", "nodeSelector")
	windows := selector["kubernetes.io/os"] == "windows"
	nodes := int64(len(v.list("", "Node")))
	every := u.GetNamespace() == systemNamespace && u.GetName() == "kube-proxy"
	switch {
	case windows || nodes == 0:
		return Finding{}, false
	case wanted == 0 && v.age(u.GetCreationTimestamp().Time) > startTime:
		f := Finding{ID: "workload-without-nodes", Severity: Blocking, Certain: true,
			Cause: name + " selects no node, so it runs nowhere", Remedy: "Correct its nodeSelector and affinity: " +
				get}
		if len(selector) > 0 {
			f.Message = fmt.Sprintf("nodeSelector %v", selector)
		}
		return f, true
	case every && wanted < nodes && v.age(u.GetCreationTimestamp().Time) > startTime:
		return Finding{ID: "workload-without-nodes", Severity: Blocking, Certain: true,
			Cause:  fmt.Sprintf("%s selects %d of %d nodes", name, wanted, nodes),
			Remedy: "Correct its nodeSelector and affinity: " + get}, true
	case ready < wanted:
		return v.unavailable(u, fmt.Sprintf("%s has %d of %d Pods ready", name, ready, wanted), get, ready == 0)
	}
	return Finding{}, false
}

// unavailable is the finding for a workload whose Pods do not run, except right after its start.
func (v *view) unavailable(u *unstructured.Unstructured, cause, get string, all bool) (Finding, bool) {
	down := v.age(v.downSince(u))
	if down < startTime {
		return Finding{}, false
	}
	f := Finding{ID: "workload-unavailable", Certain: true, Severity: Blocking, Transient: down < restTime,
		Cause: cause, Remedy: "Check what its Pods wait for: " + get,
		Message: health.ConditionOf(u, "Available").Message}
	if !all {
		f.Severity = Warning
	}
	return f, true
}

// downSince returns since when a workload lacks ready Pods: since its condition says so, or since its newest unready
// Pod became unready. Without unready Pods, it is the time of the last write.
func (v *view) downSince(u *unstructured.Unstructured) time.Time {
	if c := health.ConditionOf(u, "Available"); c.Status == "False" {
		return since(u, "Available")
	}
	var newest time.Time
	for _, pod := range v.podsOf(u) {
		if health.ConditionOf(pod, "Ready").Status == "True" {
			continue
		}
		at := since(pod, "Ready")
		if at.IsZero() {
			at = pod.GetCreationTimestamp().Time
		}
		if at.After(newest) {
			newest = at
		}
	}
	if newest.IsZero() { // no Pod was created at all
		newest = u.GetCreationTimestamp().Time
		if w := v.writes[health.RefOf(u)]; w.At.After(newest) {
			newest = w.At
		}
	}
	return newest
}

// podsOf returns the Pods that a workload selects.
func (v *view) podsOf(u *unstructured.Unstructured) []*unstructured.Unstructured {
	selector, _, _ := unstructured.NestedStringMap(u.Object, "spec", "selector", "matchLabels")
	return v.selected(u.GetNamespace(), selector)
}

// selected returns the Pods of a namespace that carry all labels. It returns none without labels.
func (v *view) selected(namespace string, labels map[string]string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, pod := range v.list("", "Pod") {
		if pod.GetNamespace() == namespace && len(labels) > 0 && carries(pod.GetLabels(), labels) {
			found = append(found, pod)
		}
	}
	return found
}

func carries(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// core reports whether a workload is part of what all components need: Kubernetes itself, Flux, Cluster API,
// cert-manager.
func (v *view) core(u *unstructured.Unstructured) bool {
	return u.GetNamespace() == systemNamespace || u.GetNamespace() == flux.Namespace ||
		u.GetLabels()[providerLabel] != "" || strings.HasPrefix(u.GetName(), "cert-manager")
}

// purpose returns what does not act without a workload, in the field's words.
func (v *view) purpose(u *unstructured.Unstructured) string {
	labels := u.GetLabels()
	switch {
	case labels["k8s-app"] == "kube-dns" || labels["k8s-app"] == "coredns":
		return "the cluster's DNS"
	case u.GetNamespace() == flux.Namespace:
		return "Flux (" + u.GetName() + ")"
	case labels[providerLabel] != "":
		return "the Cluster API provider " + labels[providerLabel]
	}
	return u.GetName()
}

func joined(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, "; ")
}
