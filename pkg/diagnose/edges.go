package diagnose

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// edges returns the objects that an object waits for.
func edges(u *unstructured.Unstructured) []health.Edge {
	if u.GroupVersionKind().Group == "" && u.GetKind() == "Pod" {
		return mounted(u)
	}
	return health.Edges(u)
}

// mounted returns the Secrets and ConfigMaps in the volumes of a Pod. It covers neither projected volumes nor
// variables.
func mounted(u *unstructured.Unstructured) []health.Edge {
	var list []health.Edge
	volumes, _, _ := unstructured.NestedSlice(u.Object, "spec", "volumes")
	for _, item := range volumes {
		volume, _ := item.(map[string]any)
		for _, source := range []struct{ field, name, kind string }{{"secret", "secretName", "Secret"},
			{"configMap", "name", "ConfigMap"}} {
			name, _, _ := unstructured.NestedString(volume, source.field, source.name)
			if optional, _, _ := unstructured.NestedBool(volume, source.field, "optional"); name != "" && !optional {
				list = append(list, health.Edge{Required: true,
					To: health.Ref{Kind: source.kind, Namespace: u.GetNamespace(), Name: name}})
			}
		}
	}
	return list
}

// createdFor returns the objects that a controller creates for an object without an owner reference.
func createdFor(u *unstructured.Unstructured) []health.Ref {
	if name, _, _ := unstructured.NestedString(u.Object, "spec", "secretName"); name != "" &&
		u.GroupVersionKind().Group == "cert-manager.io" && u.GetKind() == "Certificate" {
		return []health.Ref{{Kind: "Secret", Namespace: u.GetNamespace(), Name: name}}
	}
	return nil
}
