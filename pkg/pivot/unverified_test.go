package pivot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

func unverified(t *testing.T, r *rehearsal) string {
	t.Helper()
	backup, err := record.Newest(r.BackupDir, scope.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	return backup
}

func TestAVerifiedMoveIsNotVerifiedAgain(t *testing.T) {
	r := rehearse(t)
	result, err := pivot.Run(t.Context(), r.Input)
	if err != nil {
		t.Fatal(err)
	}
	if backup := unverified(t, r); backup != "" || result.Backup == "" {
		t.Errorf("%s is to be verified again", backup)
	}
}

// A verification that failed is repeated by the next run, until what is missing is there.
func TestAFailedVerificationIsNotForgotten(t *testing.T) {
	r := rehearse(t)
	lost := fixture.ManagementCluster()[len(fixture.ManagementCluster())-1]
	lost.SetNamespace(fixture.Namespace)
	move := r.Move
	r.Move = func(ctx context.Context, in capi.MoveInput) error {
		if err := move(ctx, in); err != nil {
			return err
		}
		return r.Target.Client.Delete(ctx, lost)
	}
	if _, err := pivot.Run(t.Context(), r.Input); fault.CodeOf(err) != fault.PivotFailed {
		t.Fatalf("the move lost %s, and the run says %v", lost.GetName(), err)
	}
	backup := unverified(t, r)
	if backup == "" {
		t.Fatal("nobody remembers that the verification failed")
	}
	for i := range 2 {
		if i == 1 { // docs/guides/backup.md advises to keep it elsewhere
			if err := os.Rename(backup, filepath.Join(t.TempDir(), "kept")); err != nil {
				t.Fatal(err)
			}
			if again := unverified(t, r); again != backup {
				t.Fatalf("once the backup is moved away, %q is to be verified", again)
			}
		}
		err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup)
		if fault.CodeOf(err) != fault.PivotFailed || !strings.Contains(err.Error(), lost.GetName()+" did not arrive") ||
			!strings.Contains(fault.HintOf(err), backup) {
			t.Errorf("the next run says %v", err)
		}
	}
	lost.SetResourceVersion("")
	if err := fixture.Create(t.Context(), r.Target.Client, fixture.Namespace,
		fixture.ManagementCluster()[len(fixture.ManagementCluster())-1:]); err != nil {
		t.Fatal(err)
	}
	if err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup); err != nil {
		t.Error(err)
	}
	if again := unverified(t, r); again != "" {
		t.Errorf("it is verified, and %s is to be verified again", again)
	}
}

func TestARecordThatCannotBeReadVerifiesNothing(t *testing.T) {
	r := rehearse(t)
	for name, text := range map[string]string{"empty": "", "truncated": `{"format":1,"key":"hunter2`,
		"of another format": `{"format":2,"objects":[{}],"key":"aHVudGVyMg=="}`,
		"without objects":   `{"format":1,"key":"aHVudGVyMg=="}`} {
		backup := filepath.Join(t.TempDir(), "mgmt-20260101T000000Z")
		if err := os.WriteFile(backup+".unverified", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup)
		if fault.CodeOf(err) != fault.PivotFailed || strings.Contains(err.Error(), "hunter2") ||
			!strings.Contains(err.Error(), backup+".unverified") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A later backup of the living cluster does not count for the move, and a backup that was moved away leaves its record.
func TestTheNewestRecordCounts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"mgmt-20260101T000000Z", "mgmt-20260103T000000Z"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mgmt-20260101T000000Z", "mgmt-20260102T000000Z.tar.age",
		"mgmt-20260101T000000Z.unverified", "mgmt-20260102T000000Z.unverified", "other-20260105T000000Z.unverified"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil && name != "mgmt-20260101T000000Z" {
			t.Fatal(err)
		}
	}
	if backup, err := record.Newest(dir, "mgmt"); err != nil ||
		backup != filepath.Join(dir, "mgmt-20260102T000000Z.tar.age") {
		t.Errorf("%q, %v", backup, err)
	}
	moved := filepath.Join(dir, "mgmt-20260104T000000Z")
	if err := os.WriteFile(moved+".unverified", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if backup, err := record.Newest(dir, "mgmt"); err != nil || backup != moved {
		t.Errorf("its backup was moved away: %q, %v", backup, err)
	}
	if backup, err := record.Newest(filepath.Join(dir, "nowhere"), "mgmt"); err != nil || backup != "" {
		t.Errorf("without a folder: %q, %v", backup, err)
	}
}

// Cluster API replaces machines, and a user may pause a Cluster of their own: neither speaks against the move.
func TestWhatChangesLaterIsNoFailedVerification(t *testing.T) {
	r := rehearse(t)
	backup := endUnseen(t, r)
	for _, u := range fixture.ManagementCluster() {
		if u.GetKind() == "Machine" {
			u.SetNamespace(fixture.Namespace)
			if err := r.Target.Client.Delete(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup); err != nil {
		t.Error(err)
	}
}

// endUnseen runs a move that moves everything and then fails, so that it is not verified. It returns the move's backup.
func endUnseen(t *testing.T, r *rehearsal) string {
	t.Helper()
	move := r.Move
	r.Move = func(ctx context.Context, in capi.MoveInput) error {
		return errors.Join(move(ctx, in), errors.New("truncated"))
	}
	if _, err := pivot.Run(t.Context(), r.Input); fault.CodeOf(err) != fault.PivotFailed {
		t.Fatal(err)
	}
	return unverified(t, r)
}

func patchTarget(t *testing.T, r *rehearsal, kind, name, patch string) {
	t.Helper()
	u := fixture.One(kind, name)[0]
	u.SetNamespace(fixture.Namespace)
	if err := r.Target.Client.Patch(t.Context(), u, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// What differs is named, never shown.
func TestALateVerificationComparesWhatArrived(t *testing.T) {
	for name, tc := range map[string]struct{ kind, name, patch, want string }{
		"a Secret": {"Secret", "cloud-credentials", `{"stringData":{"clouds.yaml":"hunter2"}}`,
			"Secret management/cloud-credentials has another stringData"},
		"a spec": {"KubeadmControlPlane", "mgmt-cp", `{"spec":{"replicas":5}}`,
			"KubeadmControlPlane management/mgmt-cp has another spec"},
		"a label of a tool": {"MachineDeployment", "mgmt-md", `{"metadata":{"labels":{"a":"b"}}}`, ""},
		"a machine":         {"Machine", "mgmt-cp-a", `{"spec":{"version":"v1"}}`, ""},
		"a paused Cluster":  {"Cluster", "mgmt", `{"spec":{"paused":true}}`, "is still paused"},
		"an owner that left": {"DevMachineTemplate", "mgmt-md", `{"metadata":{"ownerReferences":null}}`,
			"has another owner"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			backup := endUnseen(t, r)
			patchTarget(t, r, tc.kind, tc.name, tc.patch)
			err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) ||
				strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if left := unverified(t, r); (left == "") != (tc.want == "") {
				t.Errorf("%q is left to be verified", left)
			}
		})
	}
}

// Another machine has finished the move and verified it: what has changed since is no concern of the record that this
// one has.
func TestAMoveThatAnotherMachineVerifiedIsNotComparedAgain(t *testing.T) {
	r := rehearse(t)
	backup := endUnseen(t, r)
	patchTarget(t, r, "KubeadmControlPlane", "mgmt-cp", `{"spec":{"replicas":5}}`)
	patchTarget(t, r, "Cluster", "mgmt",
		`{"metadata":{"annotations":{"cluster-init.io/pivot-verified":"of-an-earlier-move"}}}`)
	if err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup); fault.CodeOf(err) != fault.PivotFailed {
		t.Errorf("the mark of an earlier move: %v", err)
	}
	patchTarget(t, r, "Cluster", "mgmt",
		`{"metadata":{"annotations":{"cluster-init.io/pivot-verified":"Cluster-mgmt"}}}`)
	if err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup); err != nil || unverified(t, r) != "" {
		t.Errorf("verified by another machine: %v, %q", err, unverified(t, r))
	}
}

// A cluster of the same name was recreated: its certificate authority is another one.
func TestARecordOfAnEarlierLifeIsNotCompared(t *testing.T) {
	r := rehearse(t)
	backup := endUnseen(t, r)
	patchTarget(t, r, "KubeadmControlPlane", "mgmt-cp", `{"spec":{"replicas":5}}`)
	patchTarget(t, r, "Secret", "mgmt-ca", `{"data":{"tls.crt":"YW5vdGhlcg=="}}`)
	if err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup); err != nil {
		t.Error(err)
	}
}

// Whoever lost the lease must not resume what the run that has it has suspended.
func TestALostLeaseResumesNothing(t *testing.T) {
	for name, interrupted := range map[string]bool{"at work": false, "after an interrupt": true} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			heeding(&r.Source)
			heeding(&r.Target)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			ctx, leases := lease.NewSet(ctx)
			r.Move = func(_ context.Context, in capi.MoveInput) error {
				if interrupted {
					interrupt()
				}
				select {
				case <-in.TakenOver:
					t.Error("an interrupt stops the move")
				default:
				}
				leases.Lose(fault.New(fault.Busy, "bob@two has taken over", ""))
				<-in.TakenOver
				return errors.New("truncated")
			}
			_, err := pivot.Run(ctx, r.Input)
			if fault.CodeOf(err) != fault.Busy || !strings.Contains(err.Error(), "bob@two") ||
				!strings.Contains(err.Error(), "truncated") ||
				!strings.Contains(fault.HintOf(err), "Keep both clusters") {
				t.Errorf("it says %v, %s", err, fault.HintOf(err))
			}
			if r.flux.resumed != 0 {
				t.Error("Flux was resumed")
			}
		})
	}
}

// A lease that was not renewed for a while belongs to no other run: the move does not stop half-way. If nothing was
// moved, what was suspended is resumed.
func TestALeaseThatIsNotRenewedStopsNoMove(t *testing.T) {
	r := rehearse(t)
	heeding(&r.Source)
	heeding(&r.Target)
	ctx, leases := lease.NewSet(t.Context())
	r.Move = func(_ context.Context, in capi.MoveInput) error {
		leases.Lose(fault.New(fault.ClusterUnreachable, "no answer", ""))
		select {
		case <-in.TakenOver:
			t.Error("it stops the move")
		default:
		}
		return errors.New("truncated")
	}
	if _, err := pivot.Run(ctx, r.Input); fault.CodeOf(err) != fault.PivotFailed ||
		strings.Contains(err.Error(), "could not be read") {
		t.Errorf("it says %v", err)
	}
	if r.flux.resumed != 1 {
		t.Errorf("Flux was resumed %d times", r.flux.resumed)
	}
}

// heeding has a side answer as an API server does: not after the end of the question's context.
func heeding(side *clusters.Side) {
	side.Client = interceptor.NewClient(side.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return c.List(ctx, list, opts...)
		},
	})
}
