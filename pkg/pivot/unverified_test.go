package pivot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

func unverified(t *testing.T, r *rehearsal) string {
	t.Helper()
	backup, err := pivot.Unverified(r.BackupDir, scope.Cluster)
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
	for range 2 {
		err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup)
		if fault.CodeOf(err) != fault.PivotFailed || !strings.Contains(err.Error(), lost.GetName()+" did not arrive") || !strings.Contains(fault.HintOf(err), backup) {
			t.Errorf("the next run says %v", err)
		}
	}
	lost.SetResourceVersion("")
	if err := fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, fixture.ManagementCluster()[len(fixture.ManagementCluster())-1:]); err != nil {
		t.Fatal(err)
	}
	if err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup); err != nil {
		t.Error(err)
	}
	if again := unverified(t, r); again != "" {
		t.Errorf("it is verified, and %s is to be verified again", again)
	}
}

func TestABackupThatCannotBeReadVerifiesNothing(t *testing.T) {
	r := rehearse(t)
	for name, files := range map[string]map[string]string{"empty": {}, "cut off": {"a.yaml": "token: hunter2: x"}} {
		backup := filepath.Join(r.BackupDir, "mgmt-"+strings.ReplaceAll(name, " ", "-"))
		if err := os.Mkdir(backup, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(backup, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := pivot.VerifyBackup(t.Context(), r.Target, scope, backup)
		if fault.CodeOf(err) != fault.PivotFailed || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyTheNewestBackupCounts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"mgmt-20260101T000000Z", "mgmt-20260102T000000Z"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(dir, "mgmt-20260101T000000Z.unverified")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if backup, err := pivot.Unverified(dir, "mgmt"); err != nil || backup != "" {
		t.Errorf("%q, %v", backup, err)
	}
	if backup, err := pivot.Unverified(filepath.Join(dir, "nowhere"), "mgmt"); err != nil || backup != "" {
		t.Errorf("without a folder: %q, %v", backup, err)
	}
}

// Cluster API replaces machines, and a user may pause a Cluster of their own: neither speaks against the move.
func TestWhatChangesLaterIsNoFailedVerification(t *testing.T) {
	r := rehearse(t)
	result, err := pivot.Run(t.Context(), r.Input)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range fixture.ManagementCluster() {
		if u.GetKind() == "Machine" {
			u.SetNamespace(fixture.Namespace)
			if err := r.Target.Client.Delete(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := pivot.VerifyBackup(t.Context(), r.Target, scope, result.Backup); err != nil {
		t.Error(err)
	}
}

// Whoever lost the lease must not resume what the run that has it has suspended.
func TestALostLeaseResumesNothing(t *testing.T) {
	r := rehearse(t)
	ctx, lose := context.WithCancelCause(t.Context())
	r.Move = func(context.Context, capi.MoveInput) error {
		lose(fault.New(fault.Busy, "bob@two has taken over", ""))
		return errors.New("cut off")
	}
	if _, err := pivot.Run(ctx, r.Input); !strings.Contains(err.Error(), "bob@two") || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("it says %v", err)
	}
	if r.flux.resumed != 0 {
		t.Error("Flux was resumed")
	}
}
