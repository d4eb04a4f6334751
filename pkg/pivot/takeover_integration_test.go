//go:build integration

package pivot_test

import (
	"context"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// A pivot is interrupted on one machine. Another machine, which has no record of it, resumes it and is interrupted,
// too. The first machine, whose backup is older, finishes it. TestABegunPivotOverwritesOnlyCopies verifies that the
// other machine refuses what has changed since.
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
	cutOff("source", "DELETE", 12, 20*time.Second)
	if state := s.state(); state.Stage != pivot.StageCopied || len(state.Source.Objects) >= len(state.Target.Objects) {
		t.Fatalf("it is %s, with %d and %d objects", state.Stage, len(state.Source.Objects), len(state.Target.Objects))
	}
	s.BackupDir = first
	if _, err := pivot.Run(t.Context(), s.Input); err != nil || s.state().Phase != pivot.Done {
		t.Errorf("%s: %v", s.state().Phase, err)
	}
	if left, err := record.Newest(first, s.Scope.Cluster); err != nil || left != "" {
		t.Errorf("%q is still to be verified, %v", left, err)
	}
}
