package capi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Find returns the objects of keys that exist, whatever labels their kinds have. It sends one list request for each
// kind and namespace. A kind that the cluster does not know has no objects. Cluster-wide objects are found whatever
// namespace their key has, and are Shared.
func Find(ctx context.Context, c client.Client, keys []Key) (map[Key]Object, error) {
	type place struct {
		kind      schema.GroupKind
		namespace string
	}
	wanted := map[place]map[string]Key{}
	for _, key := range keys {
		at := place{key.GroupKind, key.Namespace}
		if wanted[at] == nil {
			wanted[at] = map[string]Key{}
		}
		wanted[at][key.Name] = key
	}
	found := map[Key]Object{}
	for at, names := range wanted {
		objects, err := listNames(ctx, c, at.kind, at.namespace)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if key, ok := names[o.Name]; ok {
				found[key] = o
			}
		}
	}
	return found, nil
}

// ObjectsOf returns the objects of a CRD in a namespace, sorted. For a cluster-wide CRD it returns all objects.
func ObjectsOf(ctx context.Context, c client.Client, crd CRD, namespace string) ([]Object, error) {
	objects, err := listNames(ctx, c, crd.GVK.GroupKind(), namespace)
	return sorted(objects), err
}

func listNames(ctx context.Context, c client.Client, kind schema.GroupKind, namespace string) ([]Object, error) {
	mapping, err := c.RESTMapper().RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the API of %s: %w", kind, err)
	}
	shared := mapping.Scope.Name() == meta.RESTScopeNameRoot
	var opts []client.ListOption
	if !shared {
		opts = append(opts, client.InNamespace(namespace))
	}
	var objects []Object
	err = listEach(ctx, c, mapping.GroupVersionKind, func(u *unstructured.Unstructured) error {
		o := ObjectOf(u)
		o.Shared = shared
		objects = append(objects, o)
		return nil
	}, opts...)
	return objects, err
}
