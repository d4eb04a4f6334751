//go:build integration

package clusters

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// TestTakeNameLease refuses a second cluster of one name in another namespace, also by the same user on this machine.
func TestTakeNameLease(t *testing.T) {
	t.Parallel()
	take := func(namespace, name, folder string) error {
		ctx, leases := lease.NewSet(t.Context())
		t.Cleanup(leases.ReleaseAll)
		w := New(Subject{Identity: Identity{Scope: Scope{Namespace: namespace, Cluster: name}}, StateFolder: folder},
			Parts{Leases: leases})
		return w.TakeNameLease(ctx, shared.Client, &pipeline.Notes{})
	}
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	if err := take("team-a", "shop", first); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		namespace, name string
		want            fault.Code
	}{
		"another namespace": {"team-b", "shop", fault.Busy},
		"another name":      {"team-b", "depot", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := take(tc.namespace, tc.name, filepath.Join(dir, tc.namespace, tc.name))
			if fault.CodeOf(err) != tc.want || err != nil && !strings.Contains(err.Error(), "name shop") {
				t.Errorf("%v, want code %v", err, tc.want)
			}
		})
	}
}
