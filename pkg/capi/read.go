package capi

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is the number of objects in one list request: a Secret can have a megabyte.
const pageSize = 100

// listEach calls visit for every object of the kind. A kind that the cluster does not know has no objects.
func listEach(ctx context.Context, c client.Reader, gvk schema.GroupVersionKind,
	visit func(*unstructured.Unstructured) error, opts ...client.ListOption,
) error {
	err := listServed(ctx, c, gvk, visit, opts...)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// listServed does what listEach does for a kind that the cluster is known to serve: that it does not is an error.
func listServed(ctx context.Context, c client.Reader, gvk schema.GroupVersionKind,
	visit func(*unstructured.Unstructured) error, opts ...client.ListOption,
) error {
	next := ""
	for {
		page := &unstructured.UnstructuredList{}
		page.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		err := c.List(ctx, page, append([]client.ListOption{client.Limit(pageSize), client.Continue(next)}, opts...)...)
		if err != nil {
			return fmt.Errorf("list %s: %w", gvk.GroupKind(), err)
		}
		for i := range page.Items {
			if err := visit(&page.Items[i]); err != nil {
				return err
			}
		}
		if next = page.GetContinue(); next == "" {
			return nil
		}
	}
}

// kindsAtOnce bounds the lists that run at the same time: a server has its own limit of requests of one user.
const kindsAtOnce = 6

// eachAtOnce lists the objects of many kinds, some kinds at the same time, and takes them in the order of the kinds.
// Its error is that of the first kind, by that order, that could not be listed.
func eachAtOnce[T any](kinds []CRD, list func(CRD) (T, error), take func(T)) error {
	found, errs := make([]T, len(kinds)), make([]error, len(kinds))
	var g errgroup.Group // an error ends no other list: which one is reported must not depend on their speed
	g.SetLimit(kindsAtOnce)
	for i, kind := range kinds {
		g.Go(func() error {
			found[i], errs[i] = list(kind)
			return nil
		})
	}
	_ = g.Wait()
	for i := range kinds {
		if errs[i] != nil {
			return errs[i]
		}
		take(found[i])
	}
	return nil
}

// list returns every object of the kind as T, the Go type of that kind or of the part of it that is needed.
func list[T any](ctx context.Context, c client.Reader, gvk schema.GroupVersionKind, opts ...client.ListOption) (
	[]T, error) {
	var all []T
	err := listEach(ctx, c, gvk, func(u *unstructured.Unstructured) error {
		one, err := as[T](u)
		if err == nil {
			all = append(all, one)
		}
		return err
	}, opts...)
	return all, err
}

// as reads u as T.
func as[T any](u *unstructured.Unstructured) (T, error) {
	var one T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &one); err != nil {
		return one, fmt.Errorf("read %s: %w", ObjectOf(u), err)
	}
	return one, nil
}
