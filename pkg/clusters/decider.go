package clusters

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Decider decides what one verb does with its two clusters. It observes, judges, and observes again right before an
// irreversible step. V is the verdict of that verb.
type Decider[V any] struct {
	*World
	// Judge turns an observation into a verdict, and changes nothing.
	Judge func(Observation) (V, Decision)
}

// DecideLeased observes until a verdict is accepted, while this run holds the lease of each cluster that it found. It
// starts stopped containers.
func (d Decider[V]) DecideLeased(ctx context.Context, report pipeline.Reporter) (o Observation, v V, err error) {
	o, err = d.World.DecideLeased(ctx, report, func(o Observation) Decision {
		var made Decision
		v, made = d.Judge(o)
		return made
	})
	return o, v, err
}

// JudgeUntil observes until a verdict is enough, or no better one is expected. It starts nothing. enough also reports
// whether to observe again.
func (d Decider[V]) JudgeUntil(ctx context.Context, observe func(context.Context) Observation,
	enough func(Observation, V, Decision) (done, again bool)) (o Observation, v V, made Decision, err error) {
	err = d.LookUntil(ctx, observe, func(seen Observation) (done, again bool) {
		o = seen
		v, made = d.Judge(seen)
		return enough(o, v, made)
	})
	return o, v, made, err
}

// Standing observes until a verdict is no refusal, or no better one is expected. It starts and writes nothing. The
// error is the refusal of the last verdict, or why ctx ended.
func (d Decider[V]) Standing(ctx context.Context, observe func(context.Context) Observation) (o Observation, v V,
	err error) {
	o, v, made, err := d.JudgeUntil(ctx, observe, func(_ Observation, _ V, made Decision) (done, again bool) {
		return made.Refusal == nil, made.Retryable
	})
	if err == nil {
		err = made.Refusal
	}
	return o, v, err
}

// Confirm observes again right before an irreversible step. It fails unless the caller allows the verdict: with the
// refusal, with stopped if a container has stopped, else with the code fault.Busy.
func (d Decider[V]) Confirm(ctx context.Context, allows func(V) bool, stopped error) (Observation, error) {
	o, v, made, err := d.JudgeUntil(ctx, d.Observe, func(_ Observation, v V, made Decision) (done, again bool) {
		// an answer may come late, and a container looks stopped while it is being created
		return allows(v), made.Retryable || made.Start
	})
	switch {
	case err != nil:
		return o, err
	case allows(v):
		return o, nil
	case made.Refusal != nil: // its hint may name the file
		return o, errors.Join(made.Refusal, d.KeepBootstrapKubeconfig(o.Bootstrap.Cluster))
	case made.Start:
		return o, stopped
	}
	return o, fault.Retryable(fmt.Errorf("the clusters changed while this run was working: %s", made.Reason),
		fault.Busy, "If another run works on this environment, wait for its end. Then run the same command again.")
}
