package capi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Referred returns the orphans, and the objects that specs of moving objects reference and that do not move, sorted.
// The graph need not contain them. It includes cluster-wide objects of providers, such as the identity for a cloud,
// with what they reference. It omits other cluster-wide objects and missing ones. It never writes.
func (g *Graph) Referred(ctx context.Context, c client.Client) ([]*unstructured.Unstructured, error) {
	moving := g.sequenced()
	moves, known := map[Key]bool{}, map[Key]*unstructured.Unstructured{}
	for uid, n := range g.nodes {
		key := ObjectOf(n.object).Key()
		moves[key], known[key] = moving[uid], n.object
	}
	wanted := map[Key]bool{}
	for _, mention := range g.mentions(moving) {
		wanted[mention.To] = !moves[mention.To]
	}
	for _, stray := range g.Orphans() {
		wanted[stray.Object.Key()] = true
	}
	var all []*unstructured.Unstructured
	queue := slices.DeleteFunc(slices.Collect(maps.Keys(wanted)), func(key Key) bool { return !wanted[key] })
	for len(queue) > 0 {
		key := queue[0]
		queue = queue[1:]
		u := known[key]
		if u == nil {
			var err error
			if u, err = readNamed(ctx, c, key); err != nil {
				return nil, err
			}
		}
		if u == nil || u.GetNamespace() == "" && !ofProvider(key.GroupKind) {
			continue
		}
		all = append(all, u)
		if u.GetNamespace() != "" {
			continue
		}
		for _, named := range g.namedBy(u) {
			if _, seen := wanted[named]; !seen && !moves[named] {
				wanted[named] = true
				queue = append(queue, named)
			}
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(ObjectOf(a).String(), ObjectOf(b).String())
	})
	return all, nil
}

// namedBy returns what a cluster-wide object references in its spec. It drops a reference without a namespace, unless
// its kind is known to be cluster-wide: only the object's controller knows which namespace is meant.
func (g *Graph) namedBy(u *unstructured.Unstructured) []Key {
	n := refCollector{}
	n.read(u.Object["spec"])
	return slices.DeleteFunc(n.keys, func(key Key) bool {
		crd, labelled := g.crd(key)
		return key.Namespace == "" && (!labelled || crd.Namespaced)
	})
}

// ofProvider reports whether a kind is one of Cluster API and its providers, by its group.
func ofProvider(kind schema.GroupKind) bool {
	return kind.Group == orcGroup || strings.HasSuffix("."+kind.Group, "."+clusterv1.GroupVersion.Group)
}

// readNamed reads an object by its key. Nil means it does not exist, or it is cluster-wide and not of a provider.
func readNamed(ctx context.Context, c client.Client, key Key) (*unstructured.Unstructured, error) {
	mapping, err := c.RESTMapper().RESTMapping(key.GroupKind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the API of %s: %w", key.GroupKind, err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		if !ofProvider(key.GroupKind) {
			return nil, nil
		}
		key.Namespace = ""
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(mapping.GroupVersionKind)
	err = c.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: key.Name}, u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	return u, nil
}

// MayBeNamed reports whether moving objects may reference a kind: Secrets, ConfigMaps, kinds of Cluster API and its
// providers, and those with clusterctl's label.
func (g *Graph) MayBeNamed(kind schema.GroupKind) bool {
	_, labelled := g.crd(Key{GroupKind: kind})
	return kind == secretKind.GroupKind() || kind == configMapKind.GroupKind() || ofProvider(kind) || labelled
}

// Unnamed returns those of the references that Referred would not return. Neither a moving object nor a referenced
// cluster-wide object references them, and they cannot be orphans, because they have no owner.
func (g *Graph) Unnamed(references []*unstructured.Unstructured) []Object {
	wanted := map[Key]bool{}
	for _, mention := range g.mentions(g.sequenced()) {
		wanted[mention.To] = true
	}
	named := map[Key]bool{}
	for more := true; more; {
		more = false
		for _, u := range references {
			key := ObjectOf(u).Key()
			if named[key] || !g.wants(wanted, u) {
				continue
			}
			named[key], more = true, true
			if u.GetNamespace() == "" {
				for _, to := range g.namedBy(u) {
					wanted[to] = true
				}
			}
		}
	}
	var unnamed []Object
	for _, u := range references {
		if o := ObjectOf(u); !named[o.Key()] {
			unnamed = append(unnamed, o)
		}
	}
	return unnamed
}

// wants reports whether an object is wanted, or may be an orphan: it is in a namespace of the graph and has an owner.
func (g *Graph) wants(wanted map[Key]bool, u *unstructured.Unstructured) bool {
	key := ObjectOf(u).Key()
	if slices.Contains(g.namespaces, u.GetNamespace()) && len(u.GetOwnerReferences()) > 0 {
		return true
	}
	for to := range wanted {
		// a reference may not know the scope of its target
		if to == key || key.Namespace == "" && to.GroupKind == key.GroupKind && to.Name == key.Name {
			return true
		}
	}
	return false
}
