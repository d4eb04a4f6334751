package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Change is one change of a watched object. Deleted is true when Object is its last state.
type Change struct {
	Object  *unstructured.Unstructured
	Deleted bool
	// Listed, in a change without an object, is the resource whose existing objects have all been reported. Until then
	// a missing object may still exist.
	Listed schema.GroupVersionResource
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// Watch calls changed for every object of the given resources, now and whenever one changes, until ctx ends. Then it
// waits for its goroutines and returns. It watches a custom resource whose definition does not exist yet as soon as it
// is served, so that one Watch can start before any of them is installed. It also reports when all existing objects of
// a resource were reported. It never calls changed concurrently. A custom resource without a version is watched in the
// one that its definition serves, and so is one whose version is no longer served. namespace limits it to one
// namespace. Empty means all.
func (c *Cluster) Watch(ctx context.Context, namespace string, resources []schema.GroupVersionResource,
	changed func(Change)) error {
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c.Dynamic, 0, namespace, nil)
	defer factory.Shutdown()
	ctx, cancel := context.WithCancel(ctx)

	var mu sync.Mutex
	tell := func(c Change) {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			changed(c)
		}
	}
	report := func(o any, deleted bool) {
		if tombstone, ok := o.(cache.DeletedFinalStateUnknown); ok {
			o = tombstone.Obj
		}
		if u, ok := o.(*unstructured.Unstructured); ok {
			tell(Change{Object: u, Deleted: deleted})
		}
	}
	var listing sync.WaitGroup
	defer func() { // before Shutdown, which waits for the informers that this stops
		cancel()
		listing.Wait()
	}()
	start := func(r schema.GroupVersionResource) error {
		handled, err := factory.ForResource(r).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { report(o, false) },
			UpdateFunc: func(_, o any) { report(o, false) },
			DeleteFunc: func(o any) { report(o, true) },
		})
		if err != nil {
			return fmt.Errorf("watching %s in the %s cluster: %w", r.Resource, c.Name, err)
		}
		factory.Start(ctx.Done())
		listing.Go(func() {
			if cache.WaitForCacheSync(ctx.Done(), handled.HasSynced) {
				tell(Change{Listed: r})
			}
		})
		return nil
	}

	served := make(chan schema.GroupVersionResource, len(resources))
	definitions := dynamicinformer.NewDynamicSharedInformerFactory(c.Dynamic, 0) // they have no namespace
	defer definitions.Shutdown()
	defer cancel() // before Shutdown, which waits for the informer that this stops
	if err := c.awaitDefinitions(ctx, definitions, resources, served); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-served:
			if err := start(r); err != nil {
				return err
			}
		}
	}
}

// awaitDefinitions sends each resource into served once: a built-in one at once, any other when its definition is
// established. served must have room for all of them.
func (c *Cluster) awaitDefinitions(ctx context.Context, factory dynamicinformer.DynamicSharedInformerFactory,
	resources []schema.GroupVersionResource, served chan<- schema.GroupVersionResource) error {
	wanted := map[string]schema.GroupVersionResource{}
	for _, r := range resources {
		if builtIn(r) {
			served <- r
			continue
		}
		wanted[r.GroupResource().String()] = r
	}
	if len(wanted) == 0 {
		return nil
	}
	seen := func(o any) { // called by one goroutine of the informer at a time
		crd, ok := o.(*unstructured.Unstructured)
		if !ok {
			return
		}
		r, want := wanted[crd.GetName()]
		if !want || !established(crd) {
			return
		}
		if r.Version = servedVersion(crd, r.Version); r.Version == "" {
			return
		}
		delete(wanted, crd.GetName())
		served <- r
	}
	_, err := factory.ForResource(crdResource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    seen,
		UpdateFunc: func(_, o any) { seen(o) },
	})
	if err != nil {
		return fmt.Errorf("watching CustomResourceDefinitions in the %s cluster: %w", c.Name, err)
	}
	factory.Start(ctx.Done())
	return nil
}

// servedVersion returns the version in which objects of a CustomResourceDefinition are watched: the wanted one if it is
// served, else the newest that implements a contract of Cluster API, else the newest. Empty means none is served.
func servedVersion(crd *unstructured.Unstructured, wanted string) string {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var served []string
	for _, each := range versions {
		fields, _ := each.(map[string]any)
		name, _, _ := unstructured.NestedString(fields, "name")
		if is, _, _ := unstructured.NestedBool(fields, "served"); is {
			served = append(served, name)
		}
	}
	switch {
	case len(served) == 0:
		return ""
	case slices.Contains(served, wanted):
		return wanted
	}
	for _, contract := range []string{"v1beta2", "v1beta1"} {
		// The label lists the versions that implement the contract: v1beta1_v1beta2.
		listed := strings.Split(crd.GetLabels()["cluster.x-k8s.io/"+contract], "_")
		others := func(name string) bool { return !slices.Contains(listed, name) }
		if implement := slices.DeleteFunc(slices.Clone(served), others); len(implement) > 0 {
			served = implement
			break
		}
	}
	return slices.MaxFunc(served, version.CompareKubeAwareVersionStrings)
}

func builtIn(r schema.GroupVersionResource) bool {
	switch r.Group {
	case "", "apps", "batch", "apiextensions.k8s.io":
		return true
	}
	return false
}

// established reports whether the API server serves what a CustomResourceDefinition defines.
func established(crd *unstructured.Unstructured) bool {
	return health.ConditionOf(crd, "Established").Status == corev1.ConditionTrue
}
