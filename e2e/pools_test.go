//go:build e2e

package e2e

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMatrixPools takes a management cluster with a further pool of workers through the pivot, changes the number of
// its machines, and removes the pool. No other machine is replaced.
func TestMatrixPools(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	edge := func(replicas int) string {
		return valuesFile(t, map[string]any{"cluster": map[string]any{"workers": map[string]any{"edge": map[string]any{
			"replicas": replicas,
			"labels":   map[string]string{"example.org/site": "0x1f", "node-role.kubernetes.io/edge": ""},
			"taints":   []map[string]string{{"key": "site", "value": "1e3", "effect": "NoSchedule"}}}}}})
	}
	up := []string{"up", environmentName, "--bundle", l.bundle}
	with := func(replicas int, more ...string) []string {
		return slices.Concat(up, []string{"--values", edge(replicas)}, more)
	}
	if code, _ := l.run(t, with(1)...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	management.managesItself(t)
	before := boots(t, environmentName)
	management.poolNodes(t, 1)
	if len(before) != 2 {
		t.Fatalf("the machines are %v, want two", slices.Sorted(maps.Keys(before)))
	}

	if code, _ := l.run(t, with(2)...); code != 0 {
		t.Fatalf("up with a second machine ended with %d", code)
	}
	management.poolNodes(t, 2)
	if now := boots(t, environmentName); len(now) != 3 {
		t.Errorf("the machines are %v, want three", slices.Sorted(maps.Keys(now)))
	} else {
		unchanged(t, before, now)
	}

	const pool = "cluster.workers.edge.replicas"
	if code, _ := l.run(t, with(0)...); code != 34 {
		t.Errorf("up without the machines of the pool ended with %d, want 34", code)
	}
	if code, _ := l.run(t, with(0, "--allow-changes", pool)...); code != 0 {
		t.Fatalf("up without the machines of the pool, as meant, ended with %d", code)
	}
	management.poolNodes(t, 0)
	none := valuesFile(t, map[string]any{}) // without it, up takes the values of the last run
	without := slices.Concat(up, []string{"--values", none})
	if code, _ := l.run(t, without...); code != 34 {
		t.Errorf("up without the pool ended with %d, want 34", code)
	}
	if code, _ := l.run(t, append(without, "--allow-changes", "components.workers-edge")...); code != 0 {
		t.Fatalf("up without the pool ended with %d", code)
	}
	management.deletePool(t)
	if now := boots(t, environmentName); len(now) != 1 {
		t.Errorf("the machines are %v, want one", slices.Sorted(maps.Keys(now)))
	} else {
		unchanged(t, now, before)
	}
	management.managesItself(t)
	cleanup(t, l)
}

// unchanged fails the test unless every machine of some is the same boot in all.
func unchanged(t *testing.T, some, all map[string]boot) {
	t.Helper()
	for name, is := range some {
		if all[name] != is {
			t.Errorf("%s was replaced or booted again: %+v and %+v", name, is, all[name])
		}
	}
}

// poolNodes fails the test unless the pool has so many Nodes, with the labels and the taint of the values.
func (c cluster) poolNodes(t *testing.T, want int) {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes, client.MatchingLabels{"example.org/site": "0x1f"}); err != nil {
		t.Fatal(err)
	}
	if len(nodes.Items) != want {
		t.Errorf("the pool has %d Nodes, want %d", len(nodes.Items), want)
	}
	taint := corev1.Taint{Key: "site", Value: "1e3", Effect: corev1.TaintEffectNoSchedule}
	for _, node := range nodes.Items {
		if _, has := node.Labels["node-role.kubernetes.io/edge"]; !has || !slices.Contains(node.Spec.Taints, taint) {
			t.Errorf("Node %s has the labels %v and the taints %v", node.Name, node.Labels, node.Spec.Taints)
		}
	}
}

// deletePool deletes the MachineDeployment that a removed pool leaves, as the page says.
func (c cluster) deletePool(t *testing.T) {
	t.Helper()
	pool := func() *unstructured.Unstructured {
		for _, o := range c.list(t, "cluster.x-k8s.io", "v1beta2", "MachineDeployment") {
			if o.GetName() == c.name+"-workers-edge" {
				return &o
			}
		}
		return nil
	}
	deployment := pool()
	if deployment == nil {
		t.Fatal("the MachineDeployment of the pool is gone before it was deleted")
	}
	if err := c.Delete(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the MachineDeployment of the pool is gone", time.Minute, func(context.Context) bool {
		return pool() == nil
	})
}
