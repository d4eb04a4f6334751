//go:build bench

package bench

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// object is an object without what the API server sets, as JSON, with the content of Secrets in plain text.
type object []byte

// readRelease returns what `workload apply` has applied for a cluster.
func readRelease(t *testing.T, c *kube.Cluster, name string) []object {
	t.Helper()
	var objects []object
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Secret"},
		{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepository"},
		{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"},
	} {
		list := listOf(t, c, kind, client.InNamespace(name), client.HasLabels{workload.Label})
		for _, o := range list {
			plain := map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": map[string]any{
				"name": o.GetName(), "namespace": o.GetNamespace(), "labels": o.GetLabels()}}
			for _, field := range []string{"spec", "data", "type"} {
				if value, has := o.Object[field]; has {
					plain[field] = value
				}
			}
			if kind.Kind == "Secret" {
				plain["stringData"] = decoded(t, &o)
				delete(plain, "data")
			}
			text, err := json.Marshal(plain)
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, text)
		}
	}
	if len(objects) < 5 {
		t.Fatalf("the workload cluster %s has only %d objects", name, len(objects))
	}
	return objects
}

func decoded(t *testing.T, secret *unstructured.Unstructured) map[string]string {
	t.Helper()
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	plain := maps.Clone(data)
	for key, value := range data {
		text, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			t.Fatal(err)
		}
		plain[key] = string(text)
	}
	return plain
}

// copyRelease applies the objects of the first cluster under other names: clusters with the numbers from made to count.
func copyRelease(t *testing.T, c *kube.Cluster, template []object, made, count int) {
	t.Helper()
	for n := made; n < count; n++ {
		name := fmt.Sprintf("bench-%03d", n)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := c.Create(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		for _, text := range template {
			o := &unstructured.Unstructured{}
			if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(first), []byte(name)), &o.Object); err != nil {
				t.Fatal(err)
			}
			if err := c.Create(t.Context(), o); err != nil {
				t.Fatalf("create %s %s/%s: %v", o.GetKind(), name, o.GetName(), err)
			}
		}
	}
}

// awaitAvailable waits until so many workload clusters are Available.
func awaitAvailable(t *testing.T, c *kube.Cluster, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), workloadBound)
	defer cancel()
	tick, said := time.NewTicker(2*time.Second), 0
	defer tick.Stop()
	for {
		available, last := 0, ""
		for _, o := range listOf(t, c, schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2",
			Kind: "Cluster"}) {
			if !strings.HasPrefix(o.GetNamespace(), "bench-") {
				continue
			}
			if isAvailable(t, &o) {
				available++
			} else {
				last = o.GetNamespace()
			}
		}
		if available == count {
			return
		}
		if available != said {
			t.Logf("%d of %d clusters are Available", available, count)
			said = available
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d of %d clusters are Available, %s is not", available, count, last)
		case <-tick.C:
		}
	}
}

func isAvailable(t *testing.T, cluster *unstructured.Unstructured) bool {
	t.Helper()
	var status struct {
		Status struct{ Conditions []metav1.Condition }
	}
	text, err := json.Marshal(cluster.Object)
	if err == nil {
		err = json.Unmarshal(text, &status)
	}
	if err != nil {
		t.Fatal(err)
	}
	return apimeta.IsStatusConditionTrue(status.Status.Conditions, "Available")
}

func listOf(t *testing.T, c *kube.Cluster, kind schema.GroupVersionKind,
	options ...client.ListOption) []unstructured.Unstructured {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	if err := c.List(t.Context(), list, options...); err != nil {
		t.Fatalf("list %s: %v", kind.Kind, err)
	}
	return list.Items
}
