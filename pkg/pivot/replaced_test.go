package pivot_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// What happens to machines after a verified move is reported once, to any observer; also if the end of the move was not
// verified at first.
func TestReplacedMachines(t *testing.T) {
	for name, row := range map[string]struct {
		unseen      bool // the first run ends before it has verified the move
		before, now func(*testing.T, *rehearsal)
		want        []string
	}{
		"none": {},
		"one is new": {now: func(t *testing.T, r *rehearsal) {
			more := fixture.One("Machine", "mgmt-md-1-b")
			more[0].SetName("mgmt-md-1-c")
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, more))
		}},
		"one is gone": {now: loseMachine,
			want: []string{"Machine management/mgmt-md-1-b, which the pivot moved, is not there any more"}},
		"one has another provider ID": {now: func(t *testing.T, r *rehearsal) {
			patchTarget(t, r, "Machine", "mgmt-cp-a", `{"spec":{"providerID":"docker:////other"}}`)
		},
			want: []string{`Machine management/mgmt-cp-a had the provider ID "docker:////mgmt-cp-a" when the pivot moved it, and has "docker:////other" now`}},
		"one went before the move was verified": {unseen: true, before: loseMachine,
			want: []string{"mgmt-md-1-b, which the pivot moved, is not there any more"}},
		"the note was changed": {now: func(t *testing.T, r *rehearsal) {
			patchTarget(t, r, "Cluster", "mgmt", `{"metadata":{"annotations":{"cluster-init.io/pivot-machines":"{"}}}`)
		}, want: []string{"pivot-machines of Cluster management/mgmt was changed"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			if row.unseen {
				backup := endUnseen(t, r)
				row.before(t, r)
				must(t, pivot.VerifyBackup(t.Context(), r.Target, scope, backup))
			} else if _, err := pivot.Run(t.Context(), r.Input); err != nil {
				t.Fatal(err)
			}
			if row.now != nil {
				row.now(t, r)
			}
			got, err := pivot.Replaced(t.Context(), r.Target.Client, scope)
			if err != nil || len(got) != len(row.want) {
				t.Fatalf("got %q, %v, want %q", got, err, row.want)
			}
			for i, want := range row.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("it says %q, want %q", got[i], want)
				}
			}
			must(t, pivot.ForgetMachines(t.Context(), r.Target.Client, scope))
			if got, err := pivot.Replaced(t.Context(), r.Target.Client, scope); err != nil || len(got) > 0 {
				t.Errorf("it is said again: %q, %v", got, err)
			}
		})
	}
}

// Machines of tenants come and go as their owners like.
func TestMachinesOfTenantsAreNotNoted(t *testing.T) {
	r := rehearse(t, fixture.Set("Machine", "mgmt-md-1-b", "tenant", "spec", "clusterName"))
	move := r.Move
	r.Move = func(ctx context.Context, in capi.MoveInput) error {
		err := move(ctx, in)
		patchTarget(t, r, "Machine", "mgmt-md-1-b", `{"spec":{"clusterName":"tenant"}}`)
		return err
	}
	if _, err := pivot.Run(t.Context(), r.Input); err != nil {
		t.Fatal(err)
	}
	loseMachine(t, r)
	if got, err := pivot.Replaced(t.Context(), r.Target.Client, scope); err != nil || len(got) > 0 {
		t.Errorf("got %q, %v", got, err)
	}
}

// loseMachine has a Machine go to its end.
func loseMachine(t *testing.T, r *rehearsal) {
	t.Helper()
	patchTarget(t, r, "Machine", "mgmt-md-1-b", `{"metadata":{"finalizers":null}}`)
	must(t, deleteFrom(t.Context(), r.Target.Client, "Machine", "mgmt-md-1-b"))
}
