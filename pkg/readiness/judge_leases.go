package readiness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// leaderGrace is how late a leader may renew, for a busy machine or a takeover. Of a longer Lease duration, only this
// much counts.
const leaderGrace = 45 * time.Second

// judgeLeases finds controllers without a known leader: the Lease was not renewed, or its holder is no Pod here. A
// process without the Lease runs, is ready, and does nothing.
func judgeLeases(v *view) []Finding {
	if !v.listed("", "Pod") {
		return nil
	}
	var found []Finding
	for _, lease := range v.list("coordination.k8s.io", "Lease") {
		if lease.GetNamespace() == "kube-node-lease" || !v.installed[lease.GetNamespace()] ||
			lease.GetLabels()["apiserver.kubernetes.io/identity"] != "" {
			continue
		}
		if f, wrong := v.leader(lease); wrong {
			f.Object = health.RefOf(lease)
			found = append(found, f)
		}
	}
	return found
}

func (v *view) leader(lease *unstructured.Unstructured) (Finding, bool) {
	holder, renewed := text(lease, "spec", "holderIdentity"), v.renewed(lease)
	duration := time.Duration(number(lease, 15, "spec", "leaseDurationSeconds")) * time.Second
	candidates, what := v.candidates(lease, holder)
	if len(candidates) == 0 || v.abandoned(lease, candidates) {
		return Finding{}, false // no candidate: a Deployment that is gone, or of an older version
	}
	ready := slices.ContainsFunc(candidates, func(pod *unstructured.Unstructured) bool {
		return health.ConditionOf(pod, "Ready").Status == "True" && v.age(since(pod, "Ready")) > startTime
	})
	silent := v.age(renewed)
	f := Finding{Severity: Blocking, Certain: true,
		Message: fmt.Sprintf("held by %q for %s at a time, last renewed %s ago", holder, duration,
			silent.Round(time.Second))}
	lives := slices.ContainsFunc(v.list("", "Pod"), func(pod *unstructured.Unstructured) bool {
		return holds(pod, holder) && text(pod, "status", "phase") == "Running"
	})
	switch {
	case silent <= min(duration, leaderGrace)+leaderGrace || renewed.IsZero():
		if holder != "" && !lives && ready && silent < duration {
			return v.stranger(lease, f, what)
		}
		return Finding{}, false
	case holder != "" && !lives && silent < duration:
		f.ID, f.Cause = "lease-held-by-dead-process",
			fmt.Sprintf("%s does not act: its Lease belongs to a process that is gone, for %s more", what,
				(duration-silent).Round(time.Second))
		f.Remedy = fmt.Sprintf(
			"Delete the Lease, so that a living process creates it again: kubectl -n %s delete lease %s",
			lease.GetNamespace(), lease.GetName())
	default:
		f.ID, f.Cause = "lease-not-renewed",
			fmt.Sprintf("%s does not act: its leader Lease was not renewed for %s", what,
				silent.Round(time.Second))
		f.Remedy = fmt.Sprintf(
			"Check the log of its process, and whether it can write to the API: kubectl -n %s logs %s",
			candidates[0].GetNamespace(), candidates[0].GetName())
	}
	return f, true
}

// stranger is a Lease whose holder is no Pod of this cluster, while Pods wait for it.
func (v *view) stranger(lease *unstructured.Unstructured, f Finding, what string) (Finding, bool) {
	f.ID, f.Certain = "lease-held-elsewhere", false
	f.Cause = what + " may act elsewhere: the holder of its Lease is no Pod of this cluster"
	f.Remedy = fmt.Sprintf("Stop that process, or delete the Lease if it is gone: kubectl -n %s delete lease %s",
		lease.GetNamespace(), lease.GetName())
	return f, !v.nodeNamed(text(lease, "spec", "holderIdentity"))
}

// nodeNamed reports whether a holder is a process of a node: a process in the node's network has its name.
func (v *view) nodeNamed(holder string) bool {
	return slices.ContainsFunc(v.list("", "Node"),
		func(n *unstructured.Unstructured) bool { return named(holder, n.GetName()) })
}

// holds reports whether a Pod is the holder of a Lease: by its own name, or by its node's if it is in the node's
// network.
func holds(pod *unstructured.Unstructured, holder string) bool {
	hostNetwork, _, _ := unstructured.NestedBool(pod.Object, "spec", "hostNetwork")
	return named(holder, pod.GetName()) || hostNetwork && named(holder, text(pod, "spec", "nodeName"))
}

// named reports whether a holder's identity, a host's name and something that makes it unique, begins with a name.
func named(holder, name string) bool {
	rest, is := strings.CutPrefix(holder, name)
	return is && name != "" && (rest == "" || strings.ContainsAny(rest[:1], "_-"))
}

// candidates returns the Pods that a Lease is for, and the name of what they run.
func (v *view) candidates(lease *unstructured.Unstructured, holder string) ([]*unstructured.Unstructured, string) {
	var pods []*unstructured.Unstructured
	if name := lease.GetName(); lease.GetNamespace() == systemNamespace && slices.Contains(staticPods, name) {
		for _, pod := range v.list("", "Pod") {
			if pod.GetNamespace() == systemNamespace && pod.GetName() == name+"-"+text(pod, "spec", "nodeName") {
				pods = append(pods, pod)
			}
		}
		return pods, name
	}
	for _, u := range v.workloads() {
		if named(holder, u.GetName()) || v.writtenBy(lease, u) {
			if of := v.podsOf(u); len(of) > 0 && number(u, 1, "spec", "replicas") > 0 {
				return of, u.GetName()
			}
		}
	}
	return nil, ""
}

// writtenBy reports whether a Deployment probably writes a Lease, if the holder does not show it: it is the only one in
// the namespace, or its name begins the Lease's name.
func (v *view) writtenBy(lease, u *unstructured.Unstructured) bool {
	if lease.GetNamespace() != u.GetNamespace() || u.GetKind() != "Deployment" ||
		lease.GetNamespace() == systemNamespace {
		return false
	}
	n := 0
	for _, other := range v.list("apps", "Deployment") {
		if other.GetNamespace() == u.GetNamespace() {
			n++
		}
	}
	return n == 1 || strings.HasPrefix(lease.GetName(), u.GetName()) // Flux: source-controller-leader-election
}

// abandoned reports whether the Pods of a Lease use another one: an older version used this name.
func (v *view) abandoned(lease *unstructured.Unstructured, candidates []*unstructured.Unstructured) bool {
	for _, other := range v.list("coordination.k8s.io", "Lease") {
		if health.RefOf(other) == health.RefOf(lease) || v.age(v.renewed(other)) > leaderGrace ||
			other.GetNamespace() == "kube-node-lease" {
			continue
		}
		for _, pod := range candidates {
			if holds(pod, text(other, "spec", "holderIdentity")) && pod.GetNamespace() != systemNamespace &&
				pod.GetCreationTimestamp().After(v.renewed(lease)) && !v.shared(lease, other) {
				return true
			}
		}
	}
	return false
}

// shared reports whether two Leases have the same name in different namespaces: then neither replaces the other.
func (v *view) shared(a, b *unstructured.Unstructured) bool {
	return a.GetNamespace() != b.GetNamespace() && a.GetName() == b.GetName()
}
