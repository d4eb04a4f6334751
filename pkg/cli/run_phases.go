package cli

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// phaseRun is a run that is ready to begin.
type phaseRun struct {
	folder   string // state folder of the cluster
	begins   func() // unless nil, called once the run holds the lock on this machine
	accepted func() // called once the run has passed its checks
	phases   []pipeline.Phase
	outcome  func() outcome
	// diagnosis returns the diagnosis of a failed run.
	diagnosis func() *diagnosis
}

// runPhases runs and reports the phases of a run. On this machine, only one run at a time works on a cluster. ready
// checks all input before anything changes; its run takes the leases of the clusters that it finds. If the run fails,
// runPhases reports the history of objects that were not ready, diagnoses the failure, and calls failed.
func runPhases(ctx context.Context, sink event.Sink, verb, environment string, ready func(context.Context, *lease.Set) (
	*phaseRun, error),
	failed func(context.Context, error, event.Event)) error {
	said := &event.Recorder{}
	sink = event.Tee{sink, said}
	var diagnosis *diagnosis // nil until the input is checked and the run holds its lock
	return report(ctx, sink, verb, environment, func(ctx context.Context) (outcome, error) {
		var held *lock.Lock
		defer func() { // after the leases, so that they are free for the next holder
			if held != nil {
				_ = held.Release() // an error leaves an unlocked file, which the next run takes over
			}
		}()
		ctx, leases := lease.NewSet(ctx)
		defer leases.ReleaseAll()
		run, err := ready(ctx, leases)
		if err != nil {
			return outcome{}, err
		}
		if held, err = hold(run.folder, verb+" "+environment); err != nil {
			return outcome{}, err
		}
		diagnosis = run.diagnosis()
		if run.begins != nil {
			run.begins()
		}
		runner := pipeline.Runner{Sink: sink, Now: time.Now, Heartbeat: 30 * time.Second, Accepted: run.accepted}
		err = runner.Run(ctx, run.phases)
		return run.outcome(), err
	}, func(ctx context.Context, err error, finished event.Event) {
		recount(sink, err, said.Events())
		explain(ctx, sink, err, diagnosis)
		if failed != nil {
			failed(ctx, err, finished)
		}
	})
}
