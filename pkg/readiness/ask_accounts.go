package readiness

import (
	"context"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
)

// need is an operation that a controller needs all the time.
type need struct{ verb, group, resource string }

// accountQuestions check whether the users and service accounts of the controllers have the permissions that they need.
func (o *observing) accountQuestions(v *view) []question {
	var questions []question
	ask := func(user string, groups []string, object health.Ref, n need) {
		questions = append(questions, func(ctx context.Context) { o.mayDo(ctx, user, groups, object, n) })
	}
	ask("system:kube-scheduler", nil, health.Ref{Kind: "User", Name: "system:kube-scheduler"}, need{"list", "", "pods"})
	ask("system:kube-controller-manager", nil, health.Ref{Kind: "User", Name: "system:kube-controller-manager"},
		need{"list", "", "nodes"})
	for _, u := range v.workloads() {
		account := text(u, "spec", "template", "spec", "serviceAccountName")
		if account == "" || account == "default" {
			continue
		}
		namespace := u.GetNamespace()
		groups := []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
		for _, n := range v.needs(u) {
			ask("system:serviceaccount:"+namespace+":"+account, groups,
				health.Ref{Kind: "ServiceAccount", Namespace: namespace, Name: account}, n)
		}
	}
	return questions
}

// needs are the operations that the controller of a workload needs. It is empty for an unknown controller.
func (v *view) needs(u *unstructured.Unstructured) []need {
	labels, kinds := u.GetLabels(), func(group, kind, resource string) []need {
		if !v.listed(group, kind) {
			return nil // it is not served, or not known
		}
		return []need{{"list", group, resource}}
	}
	switch name := u.GetName(); {
	case u.GetNamespace() == flux.Namespace && name == "source-controller":
		return kinds("source.toolkit.fluxcd.io", "GitRepository", "gitrepositories")
	case u.GetNamespace() == flux.Namespace && name == "kustomize-controller":
		return append(kinds("kustomize.toolkit.fluxcd.io", "Kustomization", "kustomizations"), v.applies(u)...)
	case u.GetNamespace() == flux.Namespace && name == "helm-controller":
		return append(kinds("helm.toolkit.fluxcd.io", "HelmRelease", "helmreleases"), v.applies(u)...)
	case reconcilesClusters(labels[providerLabel]):
		return kinds("cluster.x-k8s.io", "Cluster", "clusters")
	case u.GetNamespace() == systemNamespace && name == "kube-proxy":
		return []need{{"list", "", "services"}}
	case u.GetNamespace() == systemNamespace && labels["k8s-app"] == "kube-dns" && name == "coredns":
		return []need{{"list", "discovery.k8s.io", "endpointslices"}}
	case name == "cert-manager":
		return kinds("cert-manager.io", "Certificate", "certificates")
	case name == "cert-manager-cainjector":
		return []need{{"list", "admissionregistration.k8s.io", "validatingwebhookconfigurations"}}
	}
	return nil
}

// reconcilesClusters reports whether a provider reads Clusters, by clusterctl's name for it. Others carry that label
// too, such as the OpenStack Resource Controller, which may not list them.
func reconcilesClusters(provider string) bool {
	for _, prefix := range []string{"bootstrap-", "control-plane-", "infrastructure-"} {
		if strings.HasPrefix(provider, prefix) {
			return true
		}
	}
	return provider == "cluster-api"
}

// applies are the operations that a controller of Flux needs if it applies with its own account. With a default service
// account it needs none of them.
func (v *view) applies(u *unstructured.Unstructured) []need {
	for _, c := range maps(u, "spec", "template", "spec", "containers") {
		args, _ := c["args"].([]any)
		for _, arg := range args {
			if s, _ := arg.(string); strings.HasPrefix(s, "--default-service-account") {
				return nil
			}
		}
	}
	return []need{{"create", "", "namespaces"}}
}

func (o *observing) mayDo(ctx context.Context, user string, groups []string, object health.Ref, n need) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user,
		Groups:             groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: n.verb, Group: n.group, Resource: n.resource}}}
	if err := o.Create(ctx, review); err != nil {
		o.notChecked("the permissions of controllers in the %s cluster: %v", o.Name, err)
		return
	}
	o.probed(Probe{Kind: Permission, Object: object, OK: review.Status.Allowed, Message: n.verb + " " + n.resource})
}
