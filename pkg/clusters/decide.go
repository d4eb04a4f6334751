package clusters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Decision is the part of a verdict that decides whether to observe again. The zero value accepts the observation.
type Decision struct {
	Start     bool   // a managed container is stopped: start it, and observe again
	Refusal   error  // why the verb cannot proceed
	Retryable bool   // of a refusal: a silent cluster may answer soon
	Reason    string // for messages: what was observed
}

// Decide observes until judge accepts an observation or refuses for good. It retries for Patience while a cluster does
// not answer, and longer after it has started stopped containers.
func (w *World) Decide(ctx context.Context, report pipeline.Reporter, judge func(Observation) Decision) (Observation,
	error) {
	return w.decide(ctx, newStarts(report, 6*w.Patience()), judge)
}

func (w *World) decide(ctx context.Context, s *starts, judge func(Observation) Decision) (Observation, error) {
	deadline := w.Now().Add(w.Patience())
	var last error
	for {
		o := w.Observe(ctx)
		if err := ctx.Err(); err != nil {
			return o, unfinished(err, last)
		}
		j := judge(o)
		last = j.Refusal
		begun := j.Start
		var err error
		switch {
		case j.Start:
			err = w.startStopped(ctx, o, s, nil)
		case j.Refusal == nil || j.Retryable:
			silent := o.Management.State == ManagementSilent || o.Management.State == ManagementAbsent && j.Retryable
			begun, err = w.restartMisplaced(ctx, o, s, silent)
		}
		if err != nil && (begun || j.Refusal != nil) {
			return o, err
		}
		switch {
		case begun:
			deadline = w.Now().Add(s.patience)
			continue
		case j.Refusal == nil:
			return o, nil
		case !j.Retryable || !w.Now().Before(deadline) || w.endsBeforeNextLook(ctx):
			// its hint may name the file
			return o, errors.Join(j.Refusal, w.KeepBootstrapKubeconfig(o.Bootstrap.Cluster))
		}
		s.report.Waiting("an answer: "+j.Refusal.Error(), nil)
		w.pause(ctx)
	}
}

// DecideLeased decides while this run holds the leases of the clusters that it found. If another process held a lease
// until now, it observes again, because that process may have changed the clusters.
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

// LookUntil observes until an observation is enough, or until Patience is over. enough also reports whether to observe
// again. LookUntil starts nothing, and its error is that of ctx.
func (w *World) LookUntil(ctx context.Context, look func(context.Context) Observation,
	enough func(Observation) (done, again bool)) error {
	deadline := w.Now().Add(w.Patience())
	for looked := false; ; looked = true {
		o := look(ctx)
		if err := ctx.Err(); errors.Is(err, context.DeadlineExceeded) && looked {
			return nil // the observation before the deadline counts
		} else if err != nil {
			return fmt.Errorf("look at what is there: %w", err)
		}
		if done, again := enough(o); done || !again || !w.Now().Before(deadline) || w.endsBeforeNextLook(ctx) {
			return nil
		}
		w.pause(ctx)
	}
}

// endsBeforeNextLook reports whether ctx may end before another observation has finished. Then the last observation
// counts, instead of an error that time is up.
func (w *World) endsBeforeNextLook(ctx context.Context) bool {
	end, has := ctx.Deadline()
	return has && time.Until(end) < w.inventoryBound()
}

// unfinished returns the error of an observation that ctx interrupted. The refusal of the previous observation says
// more than that time is up.
func unfinished(err, last error) error {
	if errors.Is(err, context.DeadlineExceeded) && last != nil {
		return last
	}
	return fmt.Errorf("look at what is there: %w", err)
}

// pauseBetweenLooks waits between two observations. It returns early when ctx ends.
func pauseBetweenLooks(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Second):
	}
}

// Patience returns how long a run retries while a cluster does not answer. Without a timeout it is that of the default
// timeout of half an hour.
func (w *World) Patience() time.Duration {
	if w.Timeout == 0 {
		return 30 * time.Second
	}
	return w.Timeout / 60
}
