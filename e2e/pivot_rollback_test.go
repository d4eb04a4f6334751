//go:build e2e

package e2e

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPivotRollback undoes a pivot while the management cluster is unhealthy, and pivots again. No machine and no node
// is recreated.
func TestPivotRollback(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up, rollback := []string{"up", l.name, "--bundle", l.bundle}, []string{"pivot", "rollback", l.name}
	if code, _ := l.run(t, append(up, "--keep-bootstrap")...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	made, management := first{}, l.management(t)
	made.unchanged(t, l.name)
	nodes := management.nodes(t)
	if code, _ := l.run(t, rollback...); code != 60 {
		t.Errorf("rollback of a cluster that is well ended with %d, want 60", code)
	}
	component := object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "flux-system", "cert-manager", nil)
	suspend := func(patch string) {
		t.Helper()
		if err := management.Patch(t.Context(), component, client.RawPatch("application/merge-patch+json",
			[]byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	suspend(`{"spec":{"suspend":true}}`)
	if code, _ := l.run(t, rollback...); code != 0 {
		t.Fatalf("rollback ended with %d", code)
	}
	if left := management.list(t, "cluster.x-k8s.io", "v1beta2", "Cluster"); len(left) > 0 {
		t.Errorf("the management cluster holds %s", left[0].GetName())
	}
	made.unchanged(t, l.name)
	suspend(`{"spec":{"suspend":false}}`)
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up after the rollback ended with %d", code)
	}
	l.built(t, l.management(t))
	made.unchanged(t, l.name)
	sameNodes(t, nodes, l.management(t).nodes(t))
}
