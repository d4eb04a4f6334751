package readiness

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

var (
	denying = regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)
	failing = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
	policy  = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'`)
)

// refusal is the reason for which the API server refuses a request.
type refusal struct {
	id, cause, remedy string
	object            health.Ref // what refuses, if known
	behind            health.Ref // the workload that does not answer
}

// judgeDryRuns finds what the API server would refuse. The same refusal for several objects is one finding.
func judgeDryRuns(v *view) []Finding {
	var found []Finding
	at := map[string]int{}
	for _, p := range v.Probes {
		if p.OK || p.Kind != DryRunPod && p.Kind != DryRunCreate && p.Kind != DryRunUpdate {
			continue
		}
		r := v.refusal(p)
		key := r.id + r.cause
		if i, known := at[key]; known {
			if others := p.Object.String(); !strings.Contains(found[i].Message, others) &&
				strings.Count(found[i].Message, "\n") < 4 {
				found[i].Message += "\nalso " + others
			}
			continue
		}
		f := Finding{ID: r.id, Object: r.object, Severity: Blocking, Certain: true, Cause: r.cause, Remedy: r.remedy,
			Message: p.Object.String() + ": " + p.Message, behind: r.behind}
		if f.Object == (health.Ref{}) {
			f.Object = p.Object
		}
		at[key] = len(found)
		found = append(found, f)
	}
	return found
}

// refusal reads an error of the API server.
func (v *view) refusal(p Probe) refusal {
	what := map[string]string{DryRunPod: "Pods of " + p.Object.String(), DryRunCreate: "new objects of the kind " +
		p.Object.Kind, DryRunUpdate: "changes of objects of the kind " + p.Object.Kind}[p.Kind]
	kind := map[string]string{DryRunPod: "new Pods", DryRunCreate: "objects of the kind " + p.Object.Kind,
		DryRunUpdate: "changes of objects of the kind " + p.Object.Kind}[p.Kind]
	lower := strings.ToLower(p.Message)
	contains := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(lower, part) {
				return true
			}
		}
		return false
	}
	if m := denying.FindStringSubmatch(p.Message); m != nil {
		at := v.webhook(m[1])
		return refusal{"webhook-refuses", fmt.Sprintf("the webhook %s refuses %s", m[1], kind),
			fmt.Sprintf("Correct it, or remove it: kubectl delete %s %s", strings.ToLower(at.Kind), at.Name), at,
			health.Ref{}}
	}
	if m := failing.FindStringSubmatch(p.Message); m != nil {
		at := v.webhook(m[1])
		return refusal{"webhook-silent",
			fmt.Sprintf("the webhook %s does not answer correctly, so %s cannot be written", m[1], kind),
			fmt.Sprintf("Get what is behind it to run, or remove it: kubectl get %s %s -o yaml",
				strings.ToLower(at.Kind), at.Name), at, v.answers(m[1])}
	}
	if m := policy.FindStringSubmatch(p.Message); m != nil {
		return refusal{"policy-refuses", fmt.Sprintf("the ValidatingAdmissionPolicy %s refuses %s", m[1], kind),
			"Correct the policy or its binding: kubectl get validatingadmissionpolicybindings -o yaml",
			health.Ref{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy", Name: m[1]},
			health.Ref{}}
	}
	namespace := health.Ref{Kind: "Namespace", Name: p.Object.Namespace}
	switch {
	case contains("exceeded quota", "failed quota"):
		return refusal{"quota-exceeded", "a ResourceQuota of namespace " + p.Object.Namespace + " does not allow " +
			what, "Raise or remove it: kubectl -n " + p.Object.Namespace + " get resourcequotas", health.Ref{},
			health.Ref{}}
	case contains("violates podsecurity"):
		return refusal{"pod-security-refuses", "the Pod Security level of namespace " + p.Object.Namespace +
			" refuses " + what,
			"Set it back: kubectl label namespace " + p.Object.Namespace + " pod-security.kubernetes.io/enforce-",
			namespace, health.Ref{}}
	case contains("maximum cpu", "maximum memory", "minimum cpu", "minimum memory", "limit to request ratio",
		"maximum ephemeral", "minimum ephemeral"):
		return refusal{"limit-range-refuses", "a LimitRange of namespace " + p.Object.Namespace + " refuses " + what,
			"Correct or remove it: kubectl -n " + p.Object.Namespace + " get limitranges", health.Ref{}, health.Ref{}}
	case contains("no priorityclass with name"):
		return refusal{"priority-class-missing", "the priority class of " + what + " does not exist",
			"Create it again, or remove priorityClassName: kubectl get priorityclasses", health.Ref{}, health.Ref{}}
	case contains("error looking up service account"):
		return refusal{"service-account-missing", "the ServiceAccount of " + what + " does not exist",
			"Create it again. If Flux applied it: flux reconcile kustomization NAME", health.Ref{},
			health.Ref{}}
	case contains("because it is being terminated"):
		return refusal{"namespace-terminating", "namespace " + p.Object.Namespace +
			" is being deleted and accepts no new objects", "Check what it waits for: kubectl get namespace " +
			p.Object.Namespace + " -o yaml", namespace, health.Ref{}}
	}
	return refusal{"write-refused", "the API server does not accept " + what, "Fix what the message says.",
		health.Ref{}, health.Ref{}}
}

// webhook returns the configuration that contains a webhook of this name. If none does, it assumes that the
// configuration has the same name.
func (v *view) webhook(name string) health.Ref {
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		for _, u := range v.list("admissionregistration.k8s.io", kind) {
			for _, w := range maps(u, "webhooks") {
				if w["name"] == name {
					return health.RefOf(u)
				}
			}
		}
	}
	return health.Ref{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration", Name: name}
}

// answers returns the workload that serves a webhook. It is the zero Ref if none is known, or if the webhook has an
// endpoint.
func (v *view) answers(name string) health.Ref {
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		for _, u := range v.list("admissionregistration.k8s.io", kind) {
			for _, w := range maps(u, "webhooks") {
				client, _, _ := unstructured.NestedMap(w, "clientConfig")
				if b, _ := v.serviceOf(client); w["name"] == name && b.gone {
					return b.workload
				}
			}
		}
	}
	return health.Ref{}
}

// judgeDefinitions finds definitions whose objects cannot be read in every version, or that are not served.
func judgeDefinitions(v *view) []Finding {
	var found []Finding
	for _, p := range v.probes(ServedRead) {
		if !p.OK {
			found = append(found, Finding{ID: "definition-unreadable", Object: p.Object, Severity: Blocking,
				Certain: true, Message: p.Message,
				Cause:  "objects of " + p.Object.Name + " cannot be read in every version that is served",
				Remedy: "Repair the conversion webhook: it must answer, with a certificate that the CRD trusts."})
		}
	}
	for _, crd := range v.list("apiextensions.k8s.io", "CustomResourceDefinition") {
		established := health.ConditionOf(crd, "Established")
		if established.Status == "False" {
			found = append(found, Finding{ID: "definition-not-served", Object: health.RefOf(crd), Severity: Warning,
				Certain: true, Message: established.Message,
				Cause:  "the definition " + crd.GetName() + " is not served",
				Remedy: "Correct it: kubectl describe crd " + crd.GetName()})
		}
	}
	return found
}
