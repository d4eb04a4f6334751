package readiness

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
)

// judgeApplied finds objects that Flux applied and that were deleted. Of these, kustomize-controller creates its own
// again at its next interval.
func judgeApplied(v *view) []Finding {
	var found []Finding
	for _, m := range v.Missing {
		by := v.objects[m.By]
		if by == nil || by.GetDeletionTimestamp() != nil {
			continue
		}
		if status := health.OfAny(by).Status; status == health.Progressing || status == health.Suspended {
			// Flux is applying it, or does not apply it, as after a pivot on the side that the objects left.
			continue
		}
		f := Finding{ID: "applied-object-missing", Object: m.Object, Severity: Blocking, Certain: true,
			Cause: fmt.Sprintf("%s, which %s applied, does not exist", m.Object, m.By),
			Remedy: fmt.Sprintf("Apply it again: flux -n %s reconcile %s %s (a HelmRelease: with --force)",
				m.By.Namespace, strings.ToLower(m.By.Kind), m.By.Name)}
		if m.Object.Kind == "CustomResourceDefinition" {
			f.Message = "all objects of that kind were deleted with it"
		}
		found = append(found, f)
	}
	return found
}

// sourceController serves the artifacts.
var sourceController = health.Ref{Group: "apps", Kind: "Deployment", Namespace: flux.Namespace,
	Name: "source-controller"}

// judgeArtifacts finds sources whose content cannot be fetched any more, whatever their status says.
func judgeArtifacts(v *view) []Finding {
	var found []Finding
	for _, p := range v.probes(ArtifactRead) {
		if !p.OK {
			found = append(found, Finding{ID: "artifact-unreadable", Object: p.Object, Severity: Blocking,
				Certain: true, Transient: true, Message: p.Message, behind: sourceController,
				Cause: fmt.Sprintf("the artifact of %s cannot be fetched from source-controller", p.Object),
				Remedy: fmt.Sprintf("See that source-controller runs, then: flux -n %s reconcile source %s %s",
					p.Object.Namespace, sourceCommand(p.Object.Kind), p.Object.Name)})
		}
	}
	return found
}

func sourceCommand(kind string) string {
	if kind == "OCIRepository" {
		return "oci"
	}
	return "git"
}

// judgePermissions finds accounts that may not do what their controllers do, and bindings to roles that do not exist.
func judgePermissions(v *view) []Finding {
	var found []Finding
	for _, p := range v.probes(Permission) {
		if !p.OK {
			found = append(found, Finding{ID: "permission-missing", Object: p.Object, Severity: Blocking, Certain: true,
				Message: p.Message,
				Cause:   fmt.Sprintf("%s may not %s, so its controller does not act", p.Object, p.Message),
				Remedy: "Make its ClusterRoleBinding again: for Flux `cluster-init up` does, for a component flux " +
					"reconcile kustomization NAME, for Kubernetes' own a restart of kube-apiserver."})
		}
	}
	for _, kind := range []string{"ClusterRoleBinding", "RoleBinding"} {
		for _, u := range v.list("rbac.authorization.k8s.io", kind) {
			role := health.Ref{Group: "rbac.authorization.k8s.io", Kind: text(u, "roleRef", "kind"),
				Name: text(u, "roleRef", "name")}
			if role.Kind == "Role" {
				role.Namespace = u.GetNamespace()
			}
			if v.absent(role) && v.bindsInstalled(u) {
				found = append(found, Finding{ID: "role-missing", Object: role, Severity: Blocking, Certain: true,
					Cause: fmt.Sprintf("%s does not exist, which %s gives to an account", role, health.RefOf(u)),
					Remedy: "Make the role again: for Flux `cluster-init up` does, for a component flux reconcile " +
						"kustomization NAME."})
			}
		}
	}
	return found
}

// bindsInstalled reports whether a binding is for an account of a workload that is installed.
func (v *view) bindsInstalled(binding *unstructured.Unstructured) bool {
	for _, subject := range maps(binding, "subjects") {
		name, _ := subject["name"].(string)
		namespace, _ := subject["namespace"].(string)
		for _, u := range v.workloads() {
			if subject["kind"] == "ServiceAccount" && namespace == u.GetNamespace() &&
				name == text(u, "spec", "template", "spec", "serviceAccountName") {
				return true
			}
		}
	}
	return false
}
