package health

import (
	"strings"

	"github.com/fluxcd/cli-utils/pkg/object"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Ref names an object within one cluster, in whichever version of its API.
type Ref struct{ Group, Kind, Namespace, Name string }

// RefOf returns the name of an object.
func RefOf(u *unstructured.Unstructured) Ref {
	k := u.GroupVersionKind()
	return Ref{Group: k.Group, Kind: k.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// String is Kind/namespace/name, without the namespace where there is none.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// Edge leads from an object to one that it waits for.
type Edge struct {
	To Ref
	// Required reports whether the object cannot become ready while the other one does not exist.
	Required bool
}

// Edges returns the objects that an object waits for, as its own spec and status name them. What it owns is not among
// them: only the owned objects name their owner.
func Edges(u *unstructured.Unstructured) []Edge {
	switch group := u.GroupVersionKind().Group; {
	case strings.HasSuffix(group, ".toolkit.fluxcd.io"):
		return append(fluxEdges(u), inventoryEdges(u)...)
	case group == "cluster.x-k8s.io" || strings.HasSuffix(group, ".cluster.x-k8s.io"):
		return clusterEdges(u)
	case group == "cert-manager.io":
		return issuerEdges(u)
	}
	return nil
}

// DependsOn returns the objects of its own kind that Flux waits for before it applies this one.
func DependsOn(u *unstructured.Unstructured) []Ref {
	var edges []Edge
	for _, each := range maps(u, "spec", "dependsOn") {
		edges = appendReference(edges, u.GroupVersionKind().Group, u.GetKind(), u.GetNamespace(), each)
	}
	refs := make([]Ref, 0, len(edges))
	for _, e := range edges {
		refs = append(refs, e.To)
	}
	return refs
}

func fluxEdges(u *unstructured.Unstructured) []Edge {
	var edges []Edge
	add := func(group string, reference map[string]any, kind string) {
		edges = appendReference(edges, group, kind, u.GetNamespace(), reference)
	}
	for _, other := range DependsOn(u) {
		edges = append(edges, Edge{To: other, Required: true})
	}
	for _, path := range [][]string{{"spec", "sourceRef"}, {"spec", "chartRef"},
		{"spec", "chart", "spec", "sourceRef"}} {
		if reference, found, _ := unstructured.NestedMap(u.Object, path...); found {
			add("source.toolkit.fluxcd.io", reference, "")
		}
	}
	if chart, _, _ := unstructured.NestedString(u.Object, "status", "helmChart"); chart != "" {
		if namespace, name, found := strings.Cut(chart, "/"); found {
			edges = append(edges, Edge{To: Ref{"source.toolkit.fluxcd.io", "HelmChart", namespace, name}})
		}
	}
	for _, path := range [][]string{{"spec", "valuesFrom"}, {"spec", "postBuild", "substituteFrom"}} {
		for _, each := range maps(u, path...) {
			if optional, _ := each["optional"].(bool); !optional {
				add("", each, "")
			}
		}
	}
	if reference, found, _ := unstructured.NestedMap(u.Object, "spec", "secretRef"); found {
		add("", reference, "Secret")
	}
	return edges
}

// inventoryEdges lead to what a Kustomization or a HelmRelease applied.
func inventoryEdges(u *unstructured.Unstructured) []Edge {
	var edges []Edge
	for _, r := range Inventory(u) {
		edges = append(edges, Edge{To: r})
	}
	return edges
}

// Inventory returns the objects that a Kustomization or a HelmRelease reports as applied to its own cluster. It is
// empty if they are in another cluster: there the same names mean other objects.
func Inventory(u *unstructured.Unstructured) []Ref {
	var refs []Ref
	if _, elsewhere, _ := unstructured.NestedMap(u.Object, "spec", "kubeConfig"); elsewhere {
		return nil
	}
	for _, each := range maps(u, "status", "inventory", "entries") {
		id, _ := each["id"].(string)
		applied, err := object.ParseObjMetadata(id)
		if err != nil {
			continue // an entry of an unknown form leads nowhere
		}
		refs = append(refs, Ref{applied.GroupKind.Group, applied.GroupKind.Kind, applied.Namespace, applied.Name})
	}
	return refs
}

func clusterEdges(u *unstructured.Unstructured) []Edge {
	var edges []Edge
	for _, path := range [][]string{{"spec", "infrastructureRef"}, {"spec", "bootstrap", "configRef"},
		{"spec", "controlPlaneRef"}} {
		if reference, found, _ := unstructured.NestedMap(u.Object, path...); found {
			edges = appendReference(edges, "", "", u.GetNamespace(), reference)
		}
	}
	if reference, found, _ := unstructured.NestedMap(u.Object, "spec", "identityRef"); found &&
		reference["kind"] == nil {
		edges = appendReference(edges, "", "Secret", u.GetNamespace(), reference)
	}
	if node, _, _ := unstructured.NestedString(u.Object, "status", "nodeRef", "name"); node != "" {
		// The node is in the machine's cluster, which may be another one.
		edges = append(edges, Edge{To: Ref{Kind: "Node", Name: node}})
	}
	return edges
}

// InfrastructureOf returns the infrastructure machine of a Machine, or the zero Ref if it has none yet.
func InfrastructureOf(machine *unstructured.Unstructured) Ref {
	reference, _, _ := unstructured.NestedMap(machine.Object, "spec", "infrastructureRef")
	for _, e := range appendReference(nil, "", "", machine.GetNamespace(), reference) {
		return e.To
	}
	return Ref{}
}

func issuerEdges(u *unstructured.Unstructured) []Edge {
	reference, found, _ := unstructured.NestedMap(u.Object, "spec", "issuerRef")
	if !found {
		return nil
	}
	namespace := u.GetNamespace()
	if reference["kind"] == "ClusterIssuer" {
		namespace = ""
	}
	name, _ := reference["name"].(string)
	kind, _ := reference["kind"].(string)
	if kind == "" {
		kind = "Issuer"
	}
	return []Edge{{To: Ref{"cert-manager.io", kind, namespace, name}, Required: true}}
}

// appendReference adds an object reference from a spec. Missing fields default to the arguments. A reference without a
// name or a kind is left out.
func appendReference(edges []Edge, group, kind, namespace string, reference map[string]any) []Edge {
	text := func(key, otherwise string) string {
		if s, _ := reference[key].(string); s != "" {
			return s
		}
		return otherwise
	}
	if version, _ := reference["apiVersion"].(string); version != "" {
		if parsed, err := schema.ParseGroupVersion(version); err == nil {
			group = parsed.Group
		}
	}
	to := Ref{Group: text("apiGroup", group), Kind: text("kind", kind), Namespace: text("namespace", namespace),
		Name: text("name", "")}
	if to.Name == "" || to.Kind == "" {
		return edges
	}
	return append(edges, Edge{To: to, Required: true})
}

func maps(u *unstructured.Unstructured, path ...string) []map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, path...)
	var found []map[string]any
	for _, each := range list {
		if m, isMap := each.(map[string]any); isMap {
			found = append(found, m)
		}
	}
	return found
}
