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

// afterMoveTimeout returns afterTimeout plus one second for each object, for checks that send requests for each object.
func afterMoveTimeout(objects int) time.Duration {
	return afterTimeout + time.Duration(objects)*time.Second
}

// Run pivots: it refuses what a rule forbids, suspends Flux, backs up, moves, and verifies. It may be repeated, here
// and on another machine. After a finished pivot, it only resumes what the move left paused on the target. It finishes
// an interrupted pivot by State.Recovery, and returns an error if that has no steps.
//
// Cancelling ctx stops Run at once before the move has started. After that, Run finishes and verifies the move first,
// and returns its outcome as if ctx had not been cancelled.
func Run(ctx context.Context, input Input) (Result, error) {
	if input.Log == nil {
		input.Log = func(string) {}
	}
	if input.Waiting == nil {
		input.Waiting = func(string) {}
	}
	state, err := ReadState(ctx, input.Source, input.Target, input.Scope)
	if err != nil {
		return Result{}, unreadable(err)
	}
	if state.Phase == Done {
		return Result{Already: true}, ResumeMarked(ctx, input.Target, input.Scope)
	}
	// Suspending Flux is the first step of a pivot. If Flux is not suspended, a user paused the objects, and they stay
	// paused.
	begun, err := input.Flux.Stands(ctx)
	if err != nil {
		return Result{}, unreadable(err)
	}
	if begun && state.Explained() {
		return input.recover(ctx, state)
	}
	// otherwise a rule names what is paused
	if err := state.Err(input.Source, input.Target, input.Scope); err != nil && (begun || state.Stage != StagePaused) {
		return Result{}, err
	}
	// A repeated move overwrites what an earlier pivot created on the target, as clusterctl does. Anything else there
	// is refused.
	var saved *record.Record
	if begun {
		if saved, err = input.saved(ctx, state); err != nil {
			return Result{}, err
		}
	}
	guards := input.guards(begun, saved)
	input.keepSuspended = begun && len(missing(state.Source.Objects, state.Target.Objects)) < len(state.Source.Objects)
	if _, err := input.planPatiently(ctx, guards, allTransient); err != nil {
		if begun { // nothing was moved, and the fix of the cause may have to come through Flux
			err = input.resumeFlux(ctx, err)
		}
		return Result{}, err // otherwise Flux is not yet suspended
	}
	if err := input.Flux.Suspend(ctx); err != nil {
		return Result{}, input.resumeFlux(ctx, fmt.Errorf("suspend Flux before the move: %w", err))
	}
	// Flux may have changed something until a moment ago: the state after its suspension counts.
	plan, err := input.planPatiently(ctx, guards, allTransient)
	if err != nil {
		return Result{}, input.resumeFlux(ctx, err)
	}
	return input.backUpAndMove(ctx, plan)
}

// backUpAndMove performs a plan while Flux is suspended.
func (input Input) backUpAndMove(ctx context.Context, plan Plan) (Result, error) {
	keeper := Keeper{Dir: input.BackupDir, Recipients: input.Recipients, Signer: input.Signer, Version: input.Version,
		Now: input.Now}
	saved, err := keeper.keepPlanned(ctx, input.Source, plan)
	if err != nil {
		return Result{}, input.resumeFlux(ctx, err)
	}
	input.Log(fmt.Sprintf("wrote a backup of the %d objects to move: %s", len(plan.Objects), saved.Path))
	if input.Announce != nil {
		if err := input.Announce(ctx); err != nil {
			return Result{}, input.resumeFlux(ctx, err)
		}
	}
	return input.moveAndVerify(ctx, plan, saved)
}

// moveAndVerify moves and verifies.
func (input Input) moveAndVerify(ctx context.Context, plan Plan, saved *record.Record) (Result, error) {
	err := input.Move(ctx, capi.MoveInput{
		From: input.Source.Config, To: input.Target.Config, Namespace: input.Scope.Namespace,
		Mark: input.Scope.Mark(), Log: input.Log, TakenOver: lease.DetachUntilLost(ctx).Done(),
	})
	lost := lease.Lost(ctx)
	// for the checks; writes require the lease
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterMoveTimeout(len(plan.Objects)))
	defer cancel()
	result := Result{Moved: plan.Objects, Backup: saved.Path}
	if err != nil {
		return result, input.afterFailure(ctx, err, lost, saved)
	}
	if err := verify(ctx, input.Source, input.Target, input.Scope, saved); err != nil {
		return result, fault.Wrap(fmt.Errorf("the move ended, but not as planned: %w", err), fault.PivotFailed,
			"Keep both clusters. What was there before the move is in "+saved.Path+".")
	}
	input.Log(fmt.Sprintf("all %d objects are on the target as planned", len(plan.Objects)))
	if err := lease.Lost(ctx); err != nil {
		return result, err
	}
	return result, markVerified(ctx, input.Target, input.Scope, input.BackupDir, plan.Objects)
}

// afterFailure reports how far a failed move came, and resumes Flux if nothing was changed.
func (input Input) afterFailure(ctx context.Context, cause, lost error, saved *record.Record) error {
	keep := "Keep both clusters. What was there before the move is in " + saved.Path + "."
	if lost != nil { // the run that took the lease decides
		return fault.Wrap(errors.Join(lost, cause), fault.Busy, fault.HintOf(lost)+"\n"+keep)
	}
	state, err := ReadState(ctx, input.Source, input.Target, input.Scope)
	if err != nil {
		return fault.Wrap(fmt.Errorf("%w (and then the two sides could not be read: %w)", cause, err),
			fault.PivotFailed, keep)
	}
	switch state.Phase {
	case NotStarted, Nothing:
		return input.resumeFlux(ctx, fault.Retryable(cause, fault.PivotFailed,
			"Nothing was moved. Run the same command again."))
	case Interrupted:
		hint := state.wayOut(input.Source, input.Target)
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
func (input Input) resumeFlux(ctx context.Context, cause error) error {
	if err := lease.Lost(ctx); err != nil {
		return errors.Join(err, cause)
	}
	if input.keepSuspended {
		return cause
	}
	ctx, cancel := context.WithTimeout(lease.DetachUntilLost(ctx), afterTimeout)
	defer cancel()
	if err := input.Flux.Resume(ctx); err != nil {
		cause = fault.Wrap(errors.Join(cause, fmt.Errorf("resume Flux: %w", err)), fault.CodeOf(cause),
			fault.HintOf(cause))
	}
	return cause
}
