package capi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Referred returns what moving objects name in their specs and what does not move with them, whether the graph has it or not, sorted; and
// the Strays. Objects of the whole cluster are left out, and so is what does not exist. It never writes.
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
	for _, stray := range g.Strays() {
		wanted[stray.Object.Key()] = true
	}
	var all []*unstructured.Unstructured
	for key, want := range wanted {
		if !want {
			continue
		}
		u := known[key]
		if u == nil {
			var err error
			if u, err = readNamed(ctx, c, key); err != nil {
				return nil, err
			}
		}
		if u != nil && u.GetNamespace() != "" {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(ObjectOf(a).String(), ObjectOf(b).String())
	})
	return all, nil
}

// readNamed reads an object of a namespace by its key; nil: there is none, or its kind has no namespaces.
func readNamed(ctx context.Context, c client.Client, key Key) (*unstructured.Unstructured, error) {
	mapping, err := c.RESTMapper().RESTMapping(key.GroupKind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the API of %s: %w", key.GroupKind, err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, nil
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
