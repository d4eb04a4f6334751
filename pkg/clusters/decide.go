package clusters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Decision is the part of a verdict that decides whether to observe again. The zero value stands.
type Decision struct {
	Start     bool   // a managed container is stopped: start it, and observe again
	Refusal   error  // why the verb cannot proceed
	Retryable bool   // of a refusal: what is silent now may answer soon
	Reason    string // for people: what was seen
}

// Decide looks until a judgement can stand: it starts what is stopped, and asks again for a while what does not answer.
func (w *World) Decide(ctx context.Context, report pipeline.Reporter, judge func(Observation) Decision) (Observation,
	error) {
	started := map[string]bool{}
	deadline := w.Now().Add(w.Patience())
	var last error
	for {
		o := w.Observe(ctx)
		if err := ctx.Err(); err != nil {
			return o, unfinished(err, last)
		}
		j := judge(o)
		last = j.Refusal
		switch {
		case j.Start:
			if err := w.startStopped(ctx, o, started, report); err != nil {
				return o, err
			}
			deadline = w.Now().Add(6 * w.Patience()) // an API server takes a while to come up
			continue
		case j.Refusal == nil:
			return o, nil
		case !j.Retryable || !w.Now().Before(deadline) || w.endsBeforeNextLook(ctx):
			// its hint may name the file
			return o, errors.Join(j.Refusal, w.KeepBootstrapKubeconfig(o.Bootstrap.Cluster))
		}
		report.Waiting("an answer: "+j.Refusal.Error(), nil)
		w.pause(ctx)
	}
}

// DecideLeased settles what is there while this run holds the leases of the clusters that it found. Where somebody else
// had one until now it looks again: what that one did is seen too.
func (w *World) DecideLeased(ctx context.Context, report pipeline.Reporter, judge func(Observation) Decision) (
	Observation, error) {
	for {
		o, err := w.Decide(ctx, report, judge)
		if err != nil {
			return o, err
		}
		changed := false
		for _, c := range []*kube.Cluster{o.Bootstrap.Cluster, o.Management.Cluster} {
			if c == nil {
				continue
			}
			waited, err := w.TakeLease(ctx, c, report)
			if err != nil {
				return o, err
			}
			changed = changed || waited
		}
		if !changed {
			return o, nil
		}
	}
}

// LookUntil looks until a look is enough, or until what does not answer was asked for as long as Patience says. enough
// also says whether to look again. It starts nothing. Its error is that of ctx.
func (w *World) LookUntil(ctx context.Context, look func(context.Context) Observation,
	enough func(Observation) (done, again bool)) error {
	deadline := w.Now().Add(w.Patience())
	for looked := false; ; looked = true {
		o := look(ctx)
		if err := ctx.Err(); errors.Is(err, context.DeadlineExceeded) && looked {
			return nil // what was seen before its end counts
		} else if err != nil {
			return fmt.Errorf("look at what is there: %w", err)
		}
		if done, again := enough(o); done || !again || !w.Now().Before(deadline) || w.endsBeforeNextLook(ctx) {
			return nil
		}
		w.pause(ctx)
	}
}

// endsBeforeNextLook says whether ctx ends before another look could: what was seen counts then, and is not lost to
// "not finished in time".
func (w *World) endsBeforeNextLook(ctx context.Context) bool {
	end, has := ctx.Deadline()
	return has && time.Until(end) < w.inventoryBound()
}

// unfinished is the error of a look that ctx has ended. What the look before it has found is worth more than that time
// is up.
func unfinished(err, last error) error {
	if errors.Is(err, context.DeadlineExceeded) && last != nil {
		return last
	}
	return fmt.Errorf("look at what is there: %w", err)
}

// pauseBetweenLooks returns sooner when ctx ends.
func pauseBetweenLooks(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Second):
	}
}

// Patience is for how long what does not answer is asked again. A run without bounds is as patient as one with the
// usual bound of half an hour.
func (w *World) Patience() time.Duration {
	if w.Timeout == 0 {
		return 30 * time.Second
	}
	return w.Timeout / 60
}
