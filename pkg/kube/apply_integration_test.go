//go:build integration

package kube_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

func TestApplyAllTwiceChangesNothing(t *testing.T) {
	c := connect(t, server.Kubeconfig())
	apply := func(value string) string {
		t.Helper()
		o := configMap("default", "twice")
		o.Data["key"] = value
		if err := c.ApplyAll(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		got := &corev1.ConfigMap{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), got); err != nil {
			t.Fatal(err)
		}
		if got.Data["key"] != value {
			t.Errorf("key is %q, want %q", got.Data["key"], value)
		}
		return got.ResourceVersion
	}
	first := apply("value")
	if second := apply("value"); second != first {
		t.Errorf("resourceVersion %s became %s though nothing changed", first, second)
	}
	if third := apply("other"); third == first {
		t.Error("a change kept the resourceVersion")
	}
}

// An object that was read from the server is applied like one that was made.
func TestApplyAllTakesWhatWasRead(t *testing.T) {
	c := connect(t, server.Kubeconfig())
	o := configMap("default", "read")
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Data["key"] = "applied"
	if err := c.ApplyAll(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func TestApplyAllStopsAtTheFirstErrorAndNamesTheObject(t *testing.T) {
	proxy, err := apiserver.NewProxy(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	kubeconfig, err := proxy.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, kubeconfig)
	proxy.FailWrite(2)
	err = c.ApplyAll(t.Context(), configMap("default", "one"), configMap("default", "two"),
		configMap("default", "three"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"ConfigMap default/two", "the bootstrap cluster", "etcdserver: request timed out"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	for name, want := range map[string]bool{"one": true, "two": false, "three": false} {
		if exists, err := c.Exists(t.Context(), configMap("default", name)); err != nil || exists != want {
			t.Errorf("%s exists: %t (%v), want %t", name, exists, err, want)
		}
	}
}

// Absence is an answer only when the server gave it.
func TestExistsTellsAbsenceFromFailure(t *testing.T) {
	c := connect(t, server.Kubeconfig())
	unserved := &unstructured.Unstructured{}
	unserved.SetGroupVersionKind(schema.GroupVersionKind{Group: "never.cluster-init.io", Version: "v1", Kind: "Served"})
	unserved.SetName("absent")
	for name, o := range map[string]client.Object{"an object": configMap("default", "absent"), "a kind": unserved} {
		if exists, err := c.Exists(t.Context(), o); exists || err != nil {
			t.Errorf("%s that is not there: %t, %v", name, exists, err)
		}
	}
	proxy, err := apiserver.NewProxy(server)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := proxy.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	broken := connect(t, kubeconfig)
	proxy.Close()
	if exists, err := broken.Exists(t.Context(), configMap("default", "absent")); exists || err == nil {
		t.Errorf("no server: exists %t, error %v", exists, err)
	}
	if broken.Reachable(t.Context()) == nil {
		t.Error("no server, but reachable")
	}
}

func TestRequestsAreCounted(t *testing.T) {
	c := connect(t, server.Kubeconfig())
	if n := c.Requests(); n != 0 {
		t.Errorf("%d requests before the first", n)
	}
	for range 3 {
		if err := c.Reachable(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.Requests(); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}
