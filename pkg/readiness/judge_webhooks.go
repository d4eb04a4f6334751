package readiness

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// judgeWebhooks finds webhooks whose Service has no ready endpoint. Their objects cannot be written or read, or are
// written unchecked.
func judgeWebhooks(v *view) []Finding {
	var found []Finding
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		for _, u := range v.list("admissionregistration.k8s.io", kind) {
			if v.age(u.GetCreationTimestamp().Time) > startTime {
				found = append(found, v.admission(u)...)
			}
		}
	}
	for _, crd := range v.list("apiextensions.k8s.io", "CustomResourceDefinition") {
		client, is, _ := unstructured.NestedMap(crd.Object, "spec", "conversion", "webhook", "clientConfig")
		if !is {
			continue
		}
		if b, service := v.serviceOf(client); b.gone {
			found = append(found, Finding{ID: "conversion-webhook-silent", Object: health.RefOf(crd),
				Severity: Blocking, Certain: true, Transient: b.starting, Message: b.why, behind: b.workload,
				Cause: fmt.Sprintf("objects of %s cannot be read or written in every version: their conversion "+
					"webhook does not answer", crd.GetName()), Remedy: remedyOf(service)})
		}
	}
	return found
}

// admission judges the webhooks of one configuration. Those of one Service that fail alike make one finding.
func (v *view) admission(u *unstructured.Unstructured) []Finding {
	var found []Finding
	seen := map[string]bool{}
	for _, w := range maps(u, "webhooks") {
		client, _, _ := unstructured.NestedMap(w, "clientConfig")
		b, service := v.serviceOf(client)
		fails := w["failurePolicy"] != "Ignore"
		key := fmt.Sprint(service, fails)
		if !b.gone || seen[key] {
			continue
		}
		seen[key] = true
		f := Finding{ID: "webhook-silent", Object: health.RefOf(u), Severity: Warning, Certain: true,
			Transient: b.starting, Message: b.why, Remedy: remedyOf(service), behind: b.workload}
		f.Cause = fmt.Sprintf("the webhook %v does not answer; %s skip its check", w["name"], resources(w))
		if fails {
			f.Cause = fmt.Sprintf("the webhook %v does not answer, so %s cannot be written", w["name"], resources(w))
			if selectsManaged(w) {
				f.Severity = Blocking
			}
		}
		if !installedBy(u) {
			f.Remedy += fmt.Sprintf(" If it is not needed: kubectl delete %s %s", strings.ToLower(u.GetKind()),
				u.GetName())
		}
		found = append(found, f)
	}
	return found
}

// serviceOf returns the backend of a webhook's Service, and that Service's name.
func (v *view) serviceOf(client map[string]any) (backend, health.Ref) {
	name, _, _ := unstructured.NestedString(client, "service", "name")
	namespace, _, _ := unstructured.NestedString(client, "service", "namespace")
	if name == "" {
		return backend{}, health.Ref{} // by a URL: a dry run shows whether it answers
	}
	return v.backend(namespace, name), health.Ref{Kind: "Service", Namespace: namespace, Name: name}
}

func remedyOf(service health.Ref) string {
	return fmt.Sprintf("Check its backend: kubectl -n %s get service,endpointslices,deployments,pods",
		service.Namespace)
}

// installedBy reports whether Flux applied an object, or it is part of a provider of Cluster API.
func installedBy(u *unstructured.Unstructured) bool {
	labels := u.GetLabels()
	return labels["kustomize.toolkit.fluxcd.io/name"] != "" || labels["helm.toolkit.fluxcd.io/name"] != "" ||
		labels[providerLabel] != ""
}

// resources summarizes the resources that a webhook is for.
func resources(webhook map[string]any) string {
	var names []string
	rules, _, _ := unstructured.NestedSlice(webhook, "rules")
	for _, rule := range mapsOf(rules) {
		list, _, _ := unstructured.NestedStringSlice(rule, "resources")
		for _, name := range list {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	const most = 4
	if len(names) > most {
		names = append(names[:most], "more")
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "*") }) {
		return "all objects"
	}
	return strings.Join(names, ", ")
}

// selectsManaged reports whether a webhook is for something that this product or Kubernetes itself writes all the time.
func selectsManaged(webhook map[string]any) bool {
	groups := []string{"*", "", "apps", "coordination.k8s.io"}
	rules, _, _ := unstructured.NestedSlice(webhook, "rules")
	for _, rule := range mapsOf(rules) {
		list, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
		for _, group := range list {
			if slices.Contains(groups, group) ||
				slices.ContainsFunc(ownGroups(), func(g string) bool {
					return group == g ||
						strings.HasSuffix(group, "."+g)
				}) {
				return true
			}
		}
	}
	return false
}

// judgeAPIServices finds aggregated APIs that do not answer: clients that list all kinds fail, and no namespace can be
// deleted.
func judgeAPIServices(v *view) []Finding {
	var found []Finding
	for _, u := range v.list("apiregistration.k8s.io", "APIService") {
		available := health.ConditionOf(u, "Available")
		local := text(u, "spec", "service", "name") == ""
		if local || v.age(u.GetCreationTimestamp().Time) < startTime/2 || available.Status == "True" &&
			!v.backend(text(u, "spec", "service", "namespace"), text(u, "spec", "service", "name")).gone {
			continue
		}
		namespace := text(u, "spec", "service", "namespace")
		found = append(found, Finding{ID: "api-unavailable", Object: health.RefOf(u), Severity: Warning, Certain: true,
			Message: available.Message,
			Cause: fmt.Sprintf("the API %s is served by its own server, which does not answer: no namespace can be "+
				"deleted until it does", u.GetName()),
			Remedy: fmt.Sprintf(
				"Check its server in namespace %s, or remove the API: kubectl delete apiservice %s", namespace,
				u.GetName())})
	}
	return found
}
