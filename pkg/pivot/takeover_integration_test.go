//go:build integration

package pivot_test

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// A pivot is cut off on one machine; another one goes on, what it moves has changed since, and it is cut off too. The first machine, whose
// backup is older than what was moved, finishes it.
func TestTheFirstMachineFinishesWhatAnotherWentOnWith(t *testing.T) {
	s := newStage(t)
	cutOff := func(side, method string, after int64, bound time.Duration) {
		t.Helper()
		from, to := cut(s.Source.Config, s.Target.Config, side, method, after)
		s.Move = func(ctx context.Context, in capi.MoveInput) error {
			in.From, in.To, in.Timeout = from, to, bound
			return capi.Move(ctx, in)
		}
		if _, err := pivot.Run(t.Context(), s.Input); fault.CodeOf(err) != fault.PivotFailed {
			t.Fatal(err)
		}
		s.flux.stands = true
	}
	cutOff("target", "POST", 20, 10*time.Second) // the last object is not copied
	first := s.BackupDir
	s.BackupDir, s.Recipients = t.TempDir(), recipient(t)
	s.flux.onSuspend = func() { // between the two attempts
		u := inNamespace(oneObject("KubeadmConfig", "mgmt-md-1-b")[0])
		u.SetNamespace(s.Scope.Namespace)
		if err := s.Source.Client.Patch(t.Context(), u, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"preKubeadmCommands":["false"]}}`))); err != nil {
			t.Error(err)
		}
	}
	cutOff("source", "DELETE", 12, 20*time.Second)
	if state := s.state(); state.Stage != pivot.StageCopied || len(state.Source.Objects) >= len(state.Target.Objects) {
		t.Fatalf("it is %s, with %d and %d objects", state.Stage, len(state.Source.Objects), len(state.Target.Objects))
	}
	s.BackupDir = first
	if _, err := pivot.Run(t.Context(), s.Input); err != nil || s.state().Phase != pivot.Done {
		t.Errorf("%s: %v", s.state().Phase, err)
	}
	if left, err := pivot.Unverified(first, s.Scope.Cluster); err != nil || left != "" {
		t.Errorf("%q is still to be verified, %v", left, err)
	}
}
