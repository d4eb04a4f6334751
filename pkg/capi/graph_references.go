package capi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Reference is that one object names another one in its spec.
type Reference struct{ From, To Object }

// localReference names an object of the same namespace by its name alone.
type localReference struct {
	kind  schema.GroupKind
	field string // that holds the name
}

// localReferences are the fields of providers' specs that do so.
var localReferences = map[string]localReference{
	"customHAProxyConfigTemplateRef": {configMapKind.GroupKind(), "name"},                        // DevCluster and DockerCluster of CAPD
	"identityRef":                    {secretKind.GroupKind(), "name"},                           // the credentials of OpenStackCluster, OpenStackMachine and OpenStackServer
	"cloudCredentialsRef":            {secretKind.GroupKind(), "secretName"},                     // those of the OpenStack Resource Controller
	"imageRef":                       {schema.GroupKind{Group: orcGroup, Kind: "Image"}, "name"}, // of OpenStackMachine and OpenStackServer
}

// name returns the name in a value, empty when the value names something else: an identity may be one of the whole cluster,
// which is there on both sides.
func (r localReference) name(value any) string {
	named, _ := value.(map[string]any)
	for _, field := range []string{"type", "kind"} {
		if kind, _ := named[field].(string); kind != "" && kind != r.kind.Kind {
			return ""
		}
	}
	name, _ := named[r.field].(string)
	return name
}

// LeftBehind returns what moving objects name in their specs and what does not move with them, sorted by what is named: a
// template that its controller has not yet given an owner, for example. clusterctl says nothing of it, and the
// controllers of the target look for it in vain. What may exist on both sides for good is not counted, and what belongs
// to the moving objects, but for an owner that does not move, is Stranded.
func (g *Graph) LeftBehind() []Reference {
	moves := g.sequenced()
	byKey := map[Key]types.UID{}
	for uid, n := range g.nodes {
		byKey[ObjectOf(n.object).Key()] = uid
	}
	var left []Reference
	for uid := range moves {
		from := g.identity(uid)
		for _, key := range namedIn(g.nodes[uid].object.Object["spec"], from.Namespace) {
			to, known := byKey[key]
			if !known || moves[to] {
				continue
			}
			if n := g.nodes[to]; !n.member && !n.move && !n.global {
				left = append(left, Reference{From: from, To: g.identity(to)})
			}
		}
	}
	slices.SortFunc(left, func(a, b Reference) int {
		return strings.Compare(a.To.String()+" "+a.From.String(), b.To.String()+" "+b.From.String())
	})
	return slices.Compact(left)
}

// namedIn returns the keys of all that a value refers to: objects with a kind, a name, and a group or version, whatever
// the field is called, and those of localReferences. Without a namespace it is that of the object.
func namedIn(value any, namespace string) []Key {
	var keys []Key
	switch v := value.(type) {
	case []any:
		for _, each := range v {
			keys = append(keys, namedIn(each, namespace)...)
		}
	case map[string]any:
		text := func(field string) string { s, _ := v[field].(string); return s }
		group, version := text("apiGroup"), text("apiVersion")
		if text("kind") != "" && text("name") != "" && group+version != "" {
			kind := schema.FromAPIVersionAndKind(version, text("kind")).GroupKind()
			if group != "" {
				kind.Group = group
			}
			if other := text("namespace"); other != "" {
				namespace = other
			}
			return []Key{{GroupKind: kind, NamespacedName: types.NamespacedName{Namespace: namespace, Name: text("name")}}}
		}
		for field, each := range v {
			if local, known := localReferences[field]; known {
				keys = append(keys, Key{GroupKind: local.kind, NamespacedName: types.NamespacedName{Namespace: namespace, Name: local.name(each)}})
				continue
			}
			keys = append(keys, namedIn(each, namespace)...)
		}
	}
	return keys
}
