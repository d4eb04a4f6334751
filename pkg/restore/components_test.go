package restore_test

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// gitLogin returns a Secret that a component of team-a/shop names.
func gitLogin() *object {
	u := named(core("Secret"), "git-login", map[string]any{"data": map[string]any{"password": "aHVudGVyMg=="}})
	u.SetLabels(nil)
	return u
}

// What components name comes back before the Clusters do, once: a Secret that objects/ has is not in workload/ too.
func TestWhatComponentsNameIsRestored(t *testing.T) {
	r := newWorkloads(t, gitLogin(), named(core("Secret"), "shop-ca", nil), shopRelease()[3])
	if got := len(r.Backup.Section(backup.Workload)); got != len(shopRelease())+1 {
		t.Errorf("workload/ has %d objects: %v", got, r.Backup.Manifest.Files)
	}
	r.Target.Client = failing(r.Target.Client, "shop-md-1-b", true)
	if _, err := restore.Run(t.Context(), r.Input); fault.CodeOf(err) != fault.RestoreFailed {
		t.Fatalf("it was not cut: %v", err)
	}
	if r.read(t, gitLogin()) == nil {
		t.Error("the Secret is missing when the machines come")
	}
	_, err := restore.Run(t.Context(), r.Input)
	must(t, err)
	if again, err := restore.Run(t.Context(), r.Input); err != nil || !again.Already {
		t.Errorf("again: %+v, %v", again, err)
	}
}
