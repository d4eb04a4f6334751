package pivot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// rehearsal is an Input over fake clusters that records the order of what Run does.
type rehearsal struct {
	pivot.Input
	flux  *fakeFlux
	steps []string
}

func rehearse(t *testing.T, edits ...fixture.Edit) *rehearsal {
	t.Helper()
	r := &rehearsal{flux: &fakeFlux{}}
	from, to := sides(t, source(edits...), target())
	r.flux.onSuspend = func() { r.steps = append(r.steps, "suspend") }
	r.Input = pivot.Input{
		Source: from, Target: to, Scope: scope, BackupDir: t.TempDir(), Flux: r.flux, Now: time.Now,
		Move: func(ctx context.Context, _ capi.MoveInput) error {
			found, _ := filepath.Glob(filepath.Join(r.BackupDir, "mgmt-*", "objects", "*.yaml"))
			if len(found) == len(fixture.ManagementCluster()) {
				r.steps = append(r.steps, "backup")
			}
			r.steps = append(r.steps, "move")
			return moveByHand(ctx, from.Client, to.Client)
		},
	}
	return r
}

// moveByHand stands for a move that works.
func moveByHand(ctx context.Context, from, to client.Client) error {
	for _, u := range fixture.ManagementCluster() {
		u.SetNamespace(fixture.Namespace)
		u.SetFinalizers(nil)
		if err := from.Patch(ctx, u.DeepCopy(), client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"finalizers":null}}`))); err != nil {
			return err
		}
		if err := from.Delete(ctx, u); err != nil {
			return err
		}
	}
	return fixture.Create(ctx, to, fixture.Namespace, fixture.ManagementCluster())
}

func TestRunSuspendsThenBacksUpThenMoves(t *testing.T) {
	r := rehearse(t)
	result, err := pivot.Run(t.Context(), r.Input)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"suspend", "backup", "move"}; !slices.Equal(r.steps, want) {
		t.Errorf("the order was %v, want %v", r.steps, want)
	}
	if len(result.Moved) != len(fixture.ManagementCluster()) || r.flux.resumed != 0 {
		t.Errorf("moved %d, Flux resumed %d times", len(result.Moved), r.flux.resumed)
	}
}

func TestRunStopsBeforeTheMove(t *testing.T) {
	boom := errors.New("boom")
	rows := map[string]struct {
		spoil   func(*rehearsal)
		code    fault.Code
		resumed int
	}{
		"Flux cannot be suspended": {func(r *rehearsal) { r.flux.suspendErr = boom }, fault.Unknown, 1},
		"something is paused while Flux is being suspended": {func(r *rehearsal) {
			r.flux.onSuspend = func() { pauseMachines(r.Source.Client) }
		}, fault.PivotRefused, 1},
		"the backup cannot be written": {func(r *rehearsal) {
			r.BackupDir = filepath.Join(r.BackupDir, "file", "below")
			if err := os.WriteFile(filepath.Dir(r.BackupDir), nil, 0o600); err != nil {
				panic(err)
			}
		}, fault.PivotFailed, 1},
		"the move fails before it changes anything": {func(r *rehearsal) {
			r.Move = func(context.Context, capi.MoveInput) error { return boom }
		}, fault.PivotFailed, 1},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			row.spoil(r)
			_, err := pivot.Run(t.Context(), r.Input)
			if fault.CodeOf(err) != row.code || r.flux.resumed != row.resumed {
				t.Errorf("got %v with code %s, Flux resumed %d times; want %s and %d", err, fault.CodeOf(err),
					r.flux.resumed, row.code, row.resumed)
			}
			if slices.Contains(r.steps, "move") {
				t.Error("the move was started")
			}
			if left, _ := filepath.Glob(filepath.Join(r.BackupDir, ".*")); len(left) > 0 {
				t.Errorf("an incomplete backup was left: %v", left)
			}
		})
	}
}

// TestRunResumesFluxWhenInterrupted cancels while Flux is being suspended: it must not be left so.
func TestRunResumesFluxWhenInterrupted(t *testing.T) {
	r := rehearse(t)
	ctx, interrupt := context.WithCancel(t.Context())
	r.flux.onSuspend, r.flux.suspendErr = interrupt, context.Canceled
	_, err := pivot.Run(ctx, r.Input)
	if !errors.Is(err, context.Canceled) || r.flux.resumed != 1 {
		t.Errorf("got %v, Flux resumed %d times, want once", err, r.flux.resumed)
	}
	if strings.Contains(err.Error(), "resume Flux") {
		t.Errorf("Flux was resumed with a context that was cancelled: %v", err)
	}
}

func pauseMachines(c client.Client) {
	u := fixture.One("Machine", "mgmt-cp-a")[0]
	u.SetNamespace(fixture.Namespace)
	patch := `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":""}}}`
	if err := c.Patch(context.Background(), u, client.RawPatch("application/merge-patch+json",
		[]byte(patch))); err != nil {
		panic(err)
	}
}

// TestRunVerifies lets moves report success that were none.
func TestRunVerifies(t *testing.T) {
	rows := map[string]struct {
		after func(ctx context.Context, from, to client.Client) error
		want  string
	}{
		"an object did not arrive": {func(ctx context.Context, _, to client.Client) error {
			return deleteFrom(ctx, to, "KubeadmConfigTemplate", "mgmt-md")
		}, "KubeadmConfigTemplate management/mgmt-md did not arrive"},
		"an owner did not arrive": {func(ctx context.Context, _, to client.Client) error {
			return deleteFrom(ctx, to, "MachineSet", "mgmt-md-1")
		}, "MachineSet management/mgmt-md-1 did not arrive"},
		"an object arrived with another spec": {func(ctx context.Context, _, to client.Client) error {
			return to.Patch(ctx, inNamespace(fixture.One("KubeadmControlPlane", "mgmt-cp")[0]),
				client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":null}}`)))
		}, "KubeadmControlPlane management/mgmt-cp has another spec"},
		"a Secret arrived with other data": {func(ctx context.Context, _, to client.Client) error {
			return to.Patch(ctx, inNamespace(fixture.One("Secret", "mgmt-ca")[0]),
				client.RawPatch("application/merge-patch+json", []byte(`{"data":{"tls.key":"aHVudGVyMg=="}}`)))
		}, "Secret management/mgmt-ca has another data"},
		"an object is left at the source": {func(ctx context.Context, from, _ client.Client) error {
			return fixture.Create(ctx, from, fixture.Namespace, fixture.One("Secret", "mgmt-ca"))
		}, "Secret management/mgmt-ca is still at the source"},
		"the target is paused": {func(ctx context.Context, _, to client.Client) error {
			u := fixture.One("Cluster", "mgmt")[0]
			u.SetNamespace(fixture.Namespace)
			return to.Patch(ctx, u, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"paused":true}}`)))
		}, "Cluster management/mgmt is still paused"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			r.Move = func(ctx context.Context, _ capi.MoveInput) error {
				return errors.Join(moveByHand(ctx, r.Source.Client, r.Target.Client),
					row.after(ctx, r.Source.Client, r.Target.Client))
			}
			result, err := pivot.Run(t.Context(), r.Input)
			if fault.CodeOf(err) != fault.PivotFailed || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if said := err.Error() + fault.HintOf(err); strings.Contains(said, "hunter2") ||
				strings.Contains(said, "aHVudGVyMg") {
				t.Errorf("it shows what is secret: %s", said)
			}
			if !strings.Contains(fault.HintOf(err), result.Backup) || result.Backup == "" {
				t.Errorf("the hint does not name the backup %q: %s", result.Backup, fault.HintOf(err))
			}
		})
	}
}

func deleteFrom(ctx context.Context, c client.Client, kind, name string) error {
	u := fixture.One(kind, name)[0]
	u.SetNamespace(fixture.Namespace)
	return c.Delete(ctx, u)
}
