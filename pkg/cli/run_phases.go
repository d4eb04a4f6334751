package cli

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// phaseRun is a run that is ready to begin.
type phaseRun struct {
	folder   string // of the cluster's state
	begins   func() // called once it is alone on this machine; nil: nobody wants to know
	accepted func() // called once it has passed its checks
	phases   []pipeline.Phase
	outcome  func() outcome
	looks    func() *clusters.World // where the cause is looked for when the run fails
}

// runPhases narrates the phases of a run, one at a time on this machine. ready checks all input, before anything is
// changed; its run takes the leases of the clusters that it finds. When it fails it tells what was not ready in time,
// how that went, and why, as far as that can be found out. Then failed is called, which is that of narrate.
func runPhases(ctx context.Context, sink event.Sink, verb, environment string, ready func(context.Context, *lease.Set) (
	*phaseRun, error),
	failed func(context.Context, error, event.Event)) error {
	said := &event.Recorder{}
	sink = event.Tee{sink, said}
	var looking *clusters.World // nil until all input was checked
	return report(ctx, sink, verb, environment, func(ctx context.Context) (outcome, error) {
		var held *lock.Lock
		defer func() { // after the leases: who gets the lock finds them free
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
		looking = run.looks()
		if run.begins != nil {
			run.begins()
		}
		runner := pipeline.Runner{Sink: sink, Now: time.Now, Heartbeat: 30 * time.Second, Accepted: run.accepted}
		err = runner.Run(ctx, run.phases)
		return run.outcome(), err
	}, func(ctx context.Context, err error, finished event.Event) {
		recount(sink, err, said.Events())
		explain(ctx, sink, err, looking)
		if failed != nil {
			failed(ctx, err, finished)
		}
	})
}
