//go:build integration

package pivot_test

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// A pivot is interrupted on one machine. Another machine, which has no record of it, resumes it and is interrupted,
// too. The first machine, whose backup is older, finishes it. TestABegunPivotOverwritesOnlyCopies verifies that the
// other machine refuses what has changed since.
func TestTheFirstMachineFinishesWhatAnotherWentOnWith(t *testing.T) {
	s := newStage(t)
	cutOff := func(side, method string, after int64) {
		t.Helper()
		s.Move = cut(side, method, after)
		if _, err := pivot.Run(t.Context(), s.Input); fault.CodeOf(err) != fault.PivotFailed {
			t.Fatal(err)
		}
		s.flux.stands = true
	}
	cutOff("target", "POST", 20) // the last object is not copied
	first := s.BackupDir
	s.BackupDir, s.Recipients = t.TempDir(), recipient(t)
	cutOff("source", "DELETE", 12)
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
