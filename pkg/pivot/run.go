package pivot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// afterTimeout bounds the checks after a move: they must happen even if the user has interrupted the run.
const afterTimeout = 2 * time.Minute

// afterMoveOf returns afterTimeout plus one second for each object, for checks that send requests for each object.
func afterMoveOf(objects int) time.Duration {
	return afterTimeout + time.Duration(objects)*time.Second
}

// Run pivots: it refuses what a rule forbids, suspends Flux, backs up, moves, and verifies. It may be repeated, here
// and on another machine. It changes nothing after a finished pivot. It finishes an interrupted one by the steps of
// State.Recovery, unless the two sides disagree in a way that no interrupted move leaves.
//
// Cancelling ctx stops Run at once before the move has started. After that, Run finishes and verifies the move first,
// and returns its outcome as if ctx had not been cancelled.
func Run(ctx context.Context, in Input) (Result, error) {
	if in.Log == nil {
		in.Log = func(string) {}
	}
	if in.Waiting == nil {
		in.Waiting = func(string) {}
	}
	state, err := ReadState(ctx, in.Source, in.Target, in.Scope)
	if err != nil {
		return Result{}, unreadable(err)
	}
	if state.Phase == Done {
		return Result{Already: true}, ResumeMarked(ctx, in.Target, in.Scope)
	}
	// Suspending Flux is the first step of a pivot. If Flux is not suspended, a user paused the objects, and they stay
	// paused.
	begun, err := in.Flux.Stands(ctx)
	if err != nil {
		return Result{}, unreadable(err)
	}
	if begun && state.Explained() {
		return in.recover(ctx, state)
	}
	// otherwise a rule names what is paused
	if err := state.Err(in.Source, in.Target, in.Scope); err != nil && (begun || state.Stage != StagePaused) {
		return Result{}, err
	}
	// A repeated move overwrites what an earlier pivot created on the target, as clusterctl does. Anything else there
	// is refused.
	var saved *record.Record
	if begun {
		if saved, err = in.saved(ctx, state); err != nil {
			return Result{}, err
		}
	}
	guards := in.guards(begun, saved)
	in.keepSuspended = begun && len(missing(state.Source.Objects, state.Target.Objects)) < len(state.Source.Objects)
	if _, err := in.planPatiently(ctx, guards, passing); err != nil {
		if begun { // nothing was moved, and the fix of the cause may have to come through Flux
			err = in.resumeFlux(ctx, err)
		}
		return Result{}, err // otherwise Flux is not yet suspended
	}
	if err := in.Flux.Suspend(ctx); err != nil {
		return Result{}, in.resumeFlux(ctx, fmt.Errorf("suspend Flux before the move: %w", err))
	}
	// Flux may have changed something until a moment ago: the state after its suspension counts.
	plan, err := in.planPatiently(ctx, guards, passing)
	if err != nil {
		return Result{}, in.resumeFlux(ctx, err)
	}
	return in.backUpAndMove(ctx, plan)
}

// backUpAndMove performs a plan while Flux is suspended.
func (in Input) backUpAndMove(ctx context.Context, plan Plan) (Result, error) {
	keeper := Keeper{Dir: in.BackupDir, Recipients: in.Recipients, Signer: in.Signer, Version: in.Version, Now: in.Now}
	saved, err := keeper.keepPlanned(ctx, in.Source, plan)
	if err != nil {
		return Result{}, in.resumeFlux(ctx, err)
	}
	in.Log(fmt.Sprintf("wrote a backup of the %d objects to move: %s", len(plan.Objects), saved.Path))
	if in.Announce != nil {
		if err := in.Announce(ctx); err != nil {
			return Result{}, in.resumeFlux(ctx, err)
		}
	}
	return in.moveAndVerify(ctx, plan, saved)
}

// moveAndVerify moves and verifies.
func (in Input) moveAndVerify(ctx context.Context, plan Plan, saved *record.Record) (Result, error) {
	err := in.Move(ctx, capi.MoveInput{
		From: in.Source.Config, To: in.Target.Config, Namespace: in.Scope.Namespace, Mark: in.Scope.Mark(), Log: in.Log,
		TakenOver: lease.DetachUntilLost(ctx).Done(),
	})
	lost := lease.Lost(ctx)
	// for the checks; writes require the lease
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterMoveOf(len(plan.Objects)))
	defer cancel()
	result := Result{Moved: plan.Objects, Backup: saved.Path}
	if err != nil {
		return result, in.afterFailure(ctx, err, lost, saved)
	}
	if err := verify(ctx, in.Source, in.Target, in.Scope, saved); err != nil {
		return result, fault.Wrap(fmt.Errorf("the move ended, but not as planned: %w", err), fault.PivotFailed,
			"Keep both clusters. What was there before the move is in "+saved.Path+".")
	}
	in.Log(fmt.Sprintf("all %d objects are on the target as they were, none is left at the source", len(plan.Objects)))
	if err := lease.Lost(ctx); err != nil {
		return result, err
	}
	return result, markVerified(ctx, in.Target, in.Scope, in.BackupDir, plan.Objects)
}

// afterFailure reports how far a failed move came, and resumes Flux if nothing was changed.
func (in Input) afterFailure(ctx context.Context, cause, lost error, saved *record.Record) error {
	keep := "Keep both clusters. What was there before the move is in " + saved.Path + "."
	if lost != nil { // the run that took the lease decides
		return fault.Wrap(errors.Join(lost, cause), fault.Busy, fault.HintOf(lost)+"\n"+keep)
	}
	state, err := ReadState(ctx, in.Source, in.Target, in.Scope)
	if err != nil {
		return fault.Wrap(fmt.Errorf("%w (and then the two sides could not be read: %w)", cause, err),
			fault.PivotFailed, keep)
	}
	switch state.Phase {
	case NotStarted, Nothing:
		return in.resumeFlux(ctx, fault.Retryable(cause, fault.PivotFailed,
			"Nothing was moved. Run the same command again."))
	case Interrupted:
		hint := state.wayOut(in.Source, in.Target)
		if state.Explained() {
			hint = "Run the same command again: it finishes the move. " + hint
		}
		return fault.Wrap(cause, fault.PivotFailed, hint+"\n"+keep)
	}
	return fault.Retryable(cause, fault.PivotFailed,
		"The objects are on the target and active. Run the same command again.\n"+keep)
}

// resumeFlux resumes Flux and returns cause, with the failure to resume if there is one. Once something is on the
// target, Flux stays suspended: this shows the next run that a pivot began.
func (in Input) resumeFlux(ctx context.Context, cause error) error {
	if err := lease.Lost(ctx); err != nil {
		return errors.Join(err, cause)
	}
	if in.keepSuspended {
		return cause
	}
	ctx, cancel := context.WithTimeout(lease.DetachUntilLost(ctx), afterTimeout)
	defer cancel()
	if err := in.Flux.Resume(ctx); err != nil {
		cause = fault.Wrap(errors.Join(cause, fmt.Errorf("resume Flux: %w", err)), fault.CodeOf(cause),
			fault.HintOf(cause))
	}
	return cause
}
