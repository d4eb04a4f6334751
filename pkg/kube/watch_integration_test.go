//go:build integration

package kube_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

const waitBound = 20 * time.Second

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// watching is a Watch that runs in the background of the test.
type watching struct {
	t       *testing.T
	ctx     context.Context
	stop    context.CancelFunc
	changes chan kube.Change
	done    chan error
}

func watch(t *testing.T, c *kube.Cluster, namespace string, resources ...schema.GroupVersionResource) *watching {
	t.Helper()
	ctx, cancel := context.WithCancel(bounded(t))
	w := &watching{t: t, ctx: ctx, stop: cancel, changes: make(chan kube.Change), done: make(chan error, 1)}
	go func() {
		w.done <- c.Watch(ctx, namespace, resources, func(change kube.Change) {
			select {
			case w.changes <- change:
			case <-ctx.Done():
			}
		})
	}()
	return w
}

// next returns the next change of an object of that name.
func (w *watching) next(name string) kube.Change {
	w.t.Helper()
	for {
		select {
		case c := <-w.changes:
			if c.Object != nil && c.Object.GetName() == name {
				return c
			}
		case <-w.ctx.Done():
			w.t.Fatalf("no change of %s was reported: %v", name, w.ctx.Err())
		}
	}
}

// end ends the Watch and waits for it.
func (w *watching) end() {
	w.t.Helper()
	w.stop()
	select {
	case err := <-w.done:
		if err != nil {
			w.t.Fatal(err)
		}
	case <-time.After(waitBound):
		w.t.Fatal("Watch does not end with its context")
	}
}

func namespace(t *testing.T, c *kube.Cluster, name string) string {
	t.Helper()
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	return name
}

func configMap(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data: map[string]string{"key": "value"}}
}

func widgets() *apiextensionsv1.CustomResourceDefinition {
	keep := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.test.cluster-init.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "test.cluster-init.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget",
				ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &keep}}}},
		},
	}
}

func widget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "test.cluster-init.io/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": map[string]any{"size": "small"}}}
}

// eventually tries an action until it goes well.
func eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, waitBound, true,
		func(ctx context.Context) (bool, error) {
			last = try(ctx)
			return last == nil, nil
		})
	if err != nil {
		t.Fatalf("%s: %v (%v)", what, err, last)
	}
}

func TestWatchReportsObjectsOfADefinitionThatComesLater(t *testing.T) {
	c := connect(t, server.Kubeconfig())
	w := watch(t, c, "", schema.GroupVersionResource{Group: "test.cluster-init.io", Version: "v1", Resource: "widgets"},
		configMaps)
	// The watch is up, and the definition is not there yet.
	if err := c.Create(t.Context(), configMap("default", "up")); err != nil {
		t.Fatal(err)
	}
	w.next("up")
	if err := c.Create(t.Context(), widgets()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "creating a widget", func(ctx context.Context) error { return c.Create(ctx, widget("first")) })
	if got := w.next("first"); got.Deleted || got.Object.GetKind() != "Widget" {
		t.Errorf("created: %+v", got)
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"size":"large"}}`))
	if err := c.Patch(t.Context(), widget("first"), patch); err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedString(w.next("first").Object.Object, "spec", "size"); size != "large" {
		t.Errorf("changed: size %q", size)
	}
	if err := c.Delete(t.Context(), widget("first")); err != nil {
		t.Fatal(err)
	}
	if got := w.next("first"); !got.Deleted {
		t.Errorf("deleted: %+v", got)
	}
	w.end()
}

func TestWatchKeepsToItsNamespace(t *testing.T) {
	c := connect(t, server.Kubeconfig())
	inside, outside := namespace(t, c, "inside"), namespace(t, c, "outside")
	w := watch(t, c, inside, configMaps)
	if err := c.Create(t.Context(), configMap(inside, "before")); err != nil {
		t.Fatal(err)
	}
	w.next("before")
	for _, o := range []*corev1.ConfigMap{configMap(outside, "foreign"), configMap(inside, "after")} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for {
		select {
		case change := <-w.changes:
			if change.Object == nil {
				continue
			}
			if change.Object.GetNamespace() != inside {
				t.Errorf("reported %s/%s", change.Object.GetNamespace(), change.Object.GetName())
			}
			if change.Object.GetName() != "after" {
				continue
			}
		case <-w.ctx.Done():
			t.Fatal("the last object was not reported")
		}
		break
	}
	w.end()
}

// What has not been reported may not have been listed yet: only from then on it is not there.
func TestWatchSaysWhenAllIsListed(t *testing.T) {
	c := connect(t, server.Kubeconfig())
	inside := namespace(t, c, "listed")
	const there = 50
	for i := range there {
		if err := c.Create(t.Context(), configMap(inside, fmt.Sprintf("one-%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	w := watch(t, c, inside, configMaps)
	for seen := 0; ; {
		select {
		case change := <-w.changes:
			switch {
			case change.Object != nil && strings.HasPrefix(change.Object.GetName(), "one-"):
				seen++
				continue
			case change.Object != nil:
				continue
			case change.Listed != configMaps || seen != there:
				t.Errorf("%v listed after %d of %d objects", change.Listed, seen, there)
			}
		case <-w.ctx.Done():
			t.Fatal("the end of the list was not reported")
		}
		break
	}
	w.end()
}

func TestWatchLeavesNoGoroutine(t *testing.T) {
	c := connect(t, server.Kubeconfig())
	w := watch(t, c, "", configMaps, schema.GroupVersionResource{Group: "never.cluster-init.io", Version: "v1",
		Resource: "served"})
	if err := c.Create(t.Context(), configMap("default", "leak")); err != nil {
		t.Fatal(err)
	}
	w.next("leak")
	if !watchers(t) {
		t.Fatal("no goroutine of a running Watch is found: this test would see no leak either")
	}
	w.end()
	if watchers(t) {
		t.Errorf("goroutines of an informer are left after Watch returned:\n%s", goroutines(t))
	}
}

// watchers reports whether any goroutine works for an informer.
func watchers(t *testing.T) bool {
	return bytes.Contains(goroutines(t), []byte("k8s.io/client-go/tools/cache."))
}

func goroutines(t *testing.T) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}
