package readiness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// judgePolicies finds network policies that isolate installed components and were not installed with them.
func judgePolicies(v *view) []Finding {
	var found []Finding
	for _, u := range v.list("networking.k8s.io", "NetworkPolicy") {
		if !v.installed[u.GetNamespace()] || installedBy(u) || u.GetLabels()["app.kubernetes.io/part-of"] == "flux" &&
			u.GetNamespace() == flux.Namespace {
			continue
		}
		labels, _, _ := unstructured.NestedStringMap(u.Object, "spec", "podSelector", "matchLabels")
		expressions, _, _ := unstructured.NestedSlice(u.Object, "spec", "podSelector", "matchExpressions")
		pods := v.selected(u.GetNamespace(), labels)
		if len(labels) == 0 {
			pods = slices.DeleteFunc(slices.Clone(v.list("", "Pod")),
				func(pod *unstructured.Unstructured) bool { return pod.GetNamespace() != u.GetNamespace() })
		}
		cut := cutOff(u)
		if len(pods) == 0 || cut == "" {
			continue
		}
		found = append(found, Finding{ID: "network-policy-cuts-off", Object: health.RefOf(u), Severity: Blocking,
			Certain: len(expressions) == 0 && cut != "some traffic",
			Cause: fmt.Sprintf("the NetworkPolicy %s of namespace %s forbids %s of what is installed there",
				u.GetName(), u.GetNamespace(), cut),
			Remedy: fmt.Sprintf("Allow what it needs, or remove it: kubectl -n %s delete networkpolicy %s",
				u.GetNamespace(), u.GetName()), Message: fmt.Sprintf("it selects %d Pods", len(pods))})
	}
	return found
}

// cutOff returns the traffic that a policy forbids: directions that it selects and has no rule for. With rules it may
// allow all that is needed.
func cutOff(u *unstructured.Unstructured) string {
	types, _, _ := unstructured.NestedStringSlice(u.Object, "spec", "policyTypes")
	var parts []string
	for _, t := range types {
		rules, _, _ := unstructured.NestedSlice(u.Object, "spec", strings.ToLower(t))
		if len(rules) == 0 {
			parts = append(parts, "all "+strings.ToLower(t))
		}
	}
	return strings.Join(parts, " and ")
}

// tools are interactive programs that change objects by hand, as the API server records them.
var tools = []string{"kubectl", "k9s", "Mozilla", "node-fetch", "Lens", "OpenLens", "curl", "python-requests",
	"dashboard", "rancher", "headlamp"}

// judgeConfiguration finds configuration that was deleted, or changed by hand, after its reader started: that shows
// only at the next start. It also finds invalid configuration of Kubernetes' own parts.
func judgeConfiguration(v *view) []Finding {
	var found []Finding
	for _, p := range v.probes(Configuration) {
		if !p.OK {
			found = append(found, Finding{ID: "configuration-invalid", Object: p.Object, Severity: Blocking,
				Certain: true, Message: p.Message,
				Cause:  fmt.Sprintf("the component that reads %s cannot start with it: %s", p.Object, p.Message),
				Remedy: fmt.Sprintf("Correct it: kubectl -n %s edit configmap %s", p.Object.Namespace, p.Object.Name)})
		}
	}
	for _, pod := range v.list("", "Pod") {
		if !v.installed[pod.GetNamespace()] || pod.GetDeletionTimestamp() != nil {
			continue
		}
		started := moment(text(pod, "status", "startTime"))
		for _, r := range configurationOf(pod) {
			w := v.writes[r]
			byHand := slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(w.By, tool) })
			if byHand && !started.IsZero() && w.At.After(started.Add(time.Second)) {
				found = append(found, Finding{ID: "configuration-changed", Object: r, Severity: Warning,
					Message: fmt.Sprintf("changed by %s at %s, read by %s since %s", w.By,
						w.At.UTC().Format(time.RFC3339), pod.GetName(), started.UTC().Format(time.RFC3339)),
					Cause: fmt.Sprintf("%s was changed by hand after its component had started: a mistake in it "+
						"shows at the next start", r),
					Remedy: fmt.Sprintf(
						"If the change is intended, restart the component and check that it runs. If not, "+
							"undo it: kubectl -n %s get configmap %s -o yaml", r.Namespace, r.Name)})
			}
			// otherwise the Pod reports it itself
			if v.absent(r) && optionalIsFalse(pod, r) && health.ConditionOf(pod, "Ready").Status == "True" {
				found = append(found, Finding{ID: "configuration-missing", Object: r, Severity: Blocking, Certain: true,
					Cause:  fmt.Sprintf("%s does not exist, which Pod %s needs at its next start", r, pod.GetName()),
					Remedy: "Create it again. If Flux applied it: flux reconcile kustomization NAME"})
			}
		}
	}
	return found
}

// configurationOf returns the ConfigMaps and Secrets that a Pod mounts, or that its containers read by envFrom.
func configurationOf(pod *unstructured.Unstructured) []health.Ref {
	var found []health.Ref
	add := func(kind string, name any) {
		if name, _ := name.(string); name != "" && name != "kube-root-ca.crt" {
			found = append(found, health.Ref{Kind: kind, Namespace: pod.GetNamespace(), Name: name})
		}
	}
	for _, volume := range maps(pod, "spec", "volumes") {
		for _, of := range []struct{ field, name, kind string }{{"configMap", "name", "ConfigMap"},
			{"secret", "secretName", "Secret"}} {
			if source, is := volume[of.field].(map[string]any); is {
				add(of.kind, source[of.name])
			}
		}
	}
	for _, c := range maps(pod, "spec", "containers") {
		list, _ := c["envFrom"].([]any)
		for _, from := range mapsOf(list) {
			for _, of := range []struct{ field, kind string }{{"configMapRef", "ConfigMap"}, {"secretRef", "Secret"}} {
				if source, is := from[of.field].(map[string]any); is {
					add(of.kind, source["name"])
				}
			}
		}
	}
	return found
}

// optionalIsFalse reports whether a Pod's volume of a ConfigMap or a Secret must be there.
func optionalIsFalse(pod *unstructured.Unstructured, r health.Ref) bool {
	for _, volume := range maps(pod, "spec", "volumes") {
		for _, of := range []struct{ field, name, kind string }{{"configMap", "name", "ConfigMap"},
			{"secret", "secretName", "Secret"}} {
			source, is := volume[of.field].(map[string]any)
			if is && of.kind == r.Kind && source[of.name] == r.Name && source["optional"] != true {
				return true
			}
		}
	}
	return false
}

// readable returns what is wrong with a part of Kubernetes' own configuration, or "" if no problem is known.
func readable(name string, data map[string]string) string {
	switch name {
	case "coredns":
		return corefile(data["Corefile"])
	case "kube-proxy":
		return proxyConfiguration(data)
	}
	return ""
}

func proxyConfiguration(data map[string]string) string {
	config, has := data["config.conf"]
	if !has {
		return "it has no key config.conf"
	}
	var c struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Mode       string `json:"mode"`
	}
	switch err := unpack.Unmarshal([]byte(config), &c); {
	case err != nil:
		return "config.conf is no YAML: " + err.Error()
	case c.Kind != "KubeProxyConfiguration" || !strings.HasPrefix(c.APIVersion, "kubeproxy.config.k8s.io/"):
		return fmt.Sprintf("config.conf is a %q of %q, not a KubeProxyConfiguration", c.Kind, c.APIVersion)
	case !slices.Contains([]string{"", "iptables", "ipvs", "nftables", "kernelspace"}, c.Mode):
		return fmt.Sprintf("config.conf has the mode %q, which does not exist", c.Mode)
	}
	var kubeconfig struct {
		Clusters []any `json:"clusters"`
	}
	if content, has := data["kubeconfig.conf"]; has {
		if err := unpack.Unmarshal([]byte(content), &kubeconfig); err != nil || len(kubeconfig.Clusters) == 0 {
			return "kubeconfig.conf names no cluster"
		}
	}
	return ""
}
