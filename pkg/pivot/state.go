package pivot

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Phase is how far a pivot has come.
type Phase string

// The phases of a pivot.
const (
	Nothing     Phase = "nothing"     // the source is empty and the target lacks the Cluster: nothing to pivot
	NotStarted  Phase = "not-started" // all of it is at the source, active
	Interrupted Phase = "interrupted" // somewhere in between: see Stage
	Done        Phase = "done"        // all of it is on the target, active
)

// Stage is how far an interrupted pivot has come. The stages follow the order of clusterctl: pause the source, create
// everything on the target, delete it from the source (owners last), resume the target.
type Stage string

// The stages of an interrupted pivot.
const (
	StageNone     Stage = ""
	StagePaused   Stage = "paused"   // the source is paused and complete, the target holds nothing
	StageCopying  Stage = "copying"  // the source is complete; it is paused, or a person has resumed it
	StageCopied   Stage = "copied"   // the target is paused and holds all that is left at the source
	StageResuming Stage = "resuming" // the target is paused and complete, the source holds nothing
	StageConflict Stage = "conflict" // both sides are active, or hold what no move leaves: not caused by a move
)

// State is how far a pivot has come, derived from the clusters alone.
type State struct {
	Phase          Phase
	Stage          Stage // StageNone unless interrupted
	Source, Target clusters.Holding

	scope clusters.Scope
}

// Explained reports whether an interrupted move explains the state of the two sides. Otherwise only a person can know
// which side counts.
func (s State) Explained() bool { return s.Phase == Interrupted && s.Stage != StageConflict }

// NothingMoved reports whether the source is complete and active, and the target holds nothing of it. A move deletes
// nothing at its source before it has created everything on the target.
func (s State) NothingMoved() bool {
	return s.Phase == NotStarted && len(missing(s.Source.Objects, s.Target.Objects)) == len(s.Source.Objects)
}

// ReadState reads both sides and changes neither. A side whose Client is nil counts as gone, which is right for the
// source after a finished pivot.
func ReadState(ctx context.Context, source, target clusters.Side, scope clusters.Scope) (State, error) {
	atSource, err := read(ctx, source, scope)
	if err != nil {
		return State{}, fmt.Errorf("source: %w", err)
	}
	onTarget, err := read(ctx, target, scope)
	if err != nil {
		return State{}, fmt.Errorf("target: %w", err)
	}
	return Judge(atSource, onTarget, scope), nil
}

func read(ctx context.Context, side clusters.Side, scope clusters.Scope) (clusters.Holding, error) {
	if side.Client == nil {
		return clusters.Holding{}, nil
	}
	return clusters.Hold(ctx, side.Client, scope)
}

// Judge returns how far a pivot has come, from what both sides hold.
func Judge(source, target clusters.Holding, scope clusters.Scope) State {
	s := State{Source: source, Target: target, scope: scope}
	s.Phase, s.Stage = judge(source, target, scope.Cluster)
	return s
}
