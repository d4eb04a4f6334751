package capi

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// localReference names an object of the same namespace by its name alone.
type localReference struct {
	kind  schema.GroupKind
	field string // that holds the name
}

// localReferences are the fields of providers' specs that contain one.
var localReferences = map[string]localReference{
	// DevCluster and DockerCluster of CAPD
	"customHAProxyConfigTemplateRef": {configMapKind.GroupKind(), "name"},
	// the credentials of OpenStackCluster, OpenStackMachine and OpenStackServer
	"identityRef": {secretKind.GroupKind(), "name"},
	// those of the OpenStack Resource Controller
	"cloudCredentialsRef": {secretKind.GroupKind(), "secretName"},
	// of OpenStackMachine and OpenStackServer
	"imageRef": {schema.GroupKind{Group: orcGroup, Kind: "Image"}, "name"},
}

// otherKinds are the alternative kinds of a local reference, by the content of its field type or kind.
var otherKinds = map[string]schema.GroupKind{
	"ClusterIdentity": {Group: "infrastructure." + clusterv1.GroupVersion.Group, Kind: "OpenStackClusterIdentity"},
}

// key returns the object that a value references, or false if the value alone does not identify its kind.
func (r localReference) key(value map[string]any, namespace string) (Key, bool) {
	kind := r.kind
	for _, field := range []string{"type", "kind"} {
		said, _ := value[field].(string)
		if other, known := otherKinds[said]; known {
			kind = other
		} else if said != "" && said != kind.Kind {
			return Key{}, false
		}
	}
	return keyOf(kind, namespace, value[r.field])
}

// refCollector collects the keys of everything that a spec references.
type refCollector struct {
	namespace string // of the object that has the spec
	// kinds that it names by the fields KIND + "Ref" alone, as the OpenStack Resource Controller does
	resources []string
	keys      []Key
}

// read collects from a value of the spec: objects with a kind, a name, and a group or version, in any field; those of
// localReferences; and Secrets and ConfigMaps, by the kind or by the name of the field.
func (n *refCollector) read(value any) {
	fields, _ := value.(map[string]any)
	if key, ok := n.typed(fields); ok {
		n.keys = append(n.keys, key)
		return
	}
	for field, each := range fields {
		n.field(field, each)
	}
}

// typed returns the key of a value that names its kind. A missing namespace is that of the object.
func (n *refCollector) typed(v map[string]any) (Key, bool) {
	text := func(field string) string { s, _ := v[field].(string); return s }
	group, version := text("apiGroup"), text("apiVersion")
	if text("kind") == "" || text("name") == "" {
		return Key{}, false
	}
	kind := schema.FromAPIVersionAndKind(version, text("kind")).GroupKind()
	if group != "" {
		kind.Group = group
	}
	// the form of ClusterResourceSet for these two
	if group+version == "" && kind != secretKind.GroupKind() && kind != configMapKind.GroupKind() {
		return Key{}, false
	}
	namespace := n.namespace
	if other := text("namespace"); other != "" {
		namespace = other
	}
	return keyOf(kind, namespace, text("name"))
}

func (n *refCollector) field(field string, value any) {
	if several, ok := value.([]any); ok {
		for _, each := range several {
			n.field(field, each)
		}
		return
	}
	named, _ := value.(map[string]any)
	if local, known := localReferences[field]; known && named != nil {
		if key, ok := local.key(named, n.namespace); ok {
			n.keys = append(n.keys, key)
		}
		return
	}
	if key, ok := n.core(field, value, named); ok {
		n.keys = append(n.keys, key)
		return
	}
	if key, ok := n.resource(field, value); ok {
		n.keys = append(n.keys, key)
		return
	}
	n.read(value)
}

// core returns the key of the Secret or ConfigMap that a field with such a name references: secretName,
// contentFrom.secret.name, bootstrap.dataSecretName, secretRef.
func (n *refCollector) core(field string, value any, named map[string]any) (Key, bool) {
	var kind schema.GroupKind
	switch lower := strings.ToLower(field); {
	case strings.Contains(lower, "secret"):
		kind = secretKind.GroupKind()
	case strings.Contains(lower, "configmap"):
		kind = configMapKind.GroupKind()
	default:
		return Key{}, false
	}
	if named == nil {
		return keyOf(kind, n.namespace, value)
	}
	namespace := n.namespace
	if other, _ := named["namespace"].(string); other != "" {
		namespace = other
	}
	return keyOf(kind, namespace, named["name"])
}

// resource returns the key that a field such as floatingNetworkRef references: of the longest kind that the field ends
// with.
func (n *refCollector) resource(field string, value any) (Key, bool) {
	called, ok := strings.CutSuffix(field, "Ref")
	if !ok {
		return Key{}, false
	}
	best := ""
	for _, kind := range n.resources {
		if strings.HasSuffix(strings.ToLower(called), strings.ToLower(kind)) && len(kind) > len(best) {
			best = kind
		}
	}
	if best == "" {
		return Key{}, false
	}
	return keyOf(schema.GroupKind{Group: orcGroup, Kind: best}, n.namespace, value)
}

// keyOf returns the key of a name, or false if it is not a name.
func keyOf(kind schema.GroupKind, namespace string, name any) (Key, bool) {
	text, _ := name.(string)
	return Key{GroupKind: kind, NamespacedName: types.NamespacedName{Namespace: namespace, Name: text}}, text != ""
}
