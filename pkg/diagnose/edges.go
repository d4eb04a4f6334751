package diagnose

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// edges are what an object says that it waits for.
func edges(u *unstructured.Unstructured) []health.Edge {
	if u.GroupVersionKind().Group == "" && u.GetKind() == "Pod" {
		return mounted(u)
	}
	return health.Edges(u)
}

// mounted are the Secrets and ConfigMaps that must be there before a container of a Pod starts. A Pod waits for what
// makes them, too.
func mounted(u *unstructured.Unstructured) []health.Edge {
	var list []health.Edge
	volumes, _, _ := unstructured.NestedSlice(u.Object, "spec", "volumes")
	for _, each := range volumes {
		volume, _ := each.(map[string]any)
		for _, of := range []struct{ field, name, kind string }{{"secret", "secretName", "Secret"},
			{"configMap", "name", "ConfigMap"}} {
			name, _, _ := unstructured.NestedString(volume, of.field, of.name)
			if optional, _, _ := unstructured.NestedBool(volume, of.field, "optional"); name != "" && !optional {
				list = append(list, health.Edge{To: health.Ref{Kind: of.kind, Namespace: u.GetNamespace(), Name: name},
					Required: true})
			}
		}
	}
	return list
}

// makes are the objects that somebody makes of an object, without being its owner.
func makes(u *unstructured.Unstructured) []health.Ref {
	if name, _, _ := unstructured.NestedString(u.Object, "spec", "secretName"); name != "" &&
		u.GroupVersionKind().Group == "cert-manager.io" && u.GetKind() == "Certificate" {
		return []health.Ref{{Kind: "Secret", Namespace: u.GetNamespace(), Name: name}}
	}
	return nil
}
