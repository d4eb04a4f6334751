package up

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// settle looks until a verdict can stand: it starts what is stopped, and asks again for a while what does not answer.
func (w *world) settle(ctx context.Context, report pipeline.Reporter) (observation, verdict, error) {
	started := map[string]bool{}
	deadline := w.Now().Add(w.patience())
	for {
		o := w.observe(ctx)
		if err := ctx.Err(); err != nil {
			return o, verdict{}, fmt.Errorf("look at what is there: %w", err)
		}
		v := judge(o, w.request(o))
		switch {
		case v.decision == start:
			if err := w.startStopped(ctx, o, started, report); err != nil {
				return o, v, err
			}
			deadline = w.Now().Add(w.Timeout / 10) // an API server takes a while to come up
			continue
		case v.decision != refuse:
			return o, v, nil
		case !v.again || !w.Now().Before(deadline):
			return o, v, errors.Join(v.refusal, w.keepBootstrapKubeconfig(o.bootstrap.cluster)) // its hint may name the file
		}
		report.Waiting("an answer: "+v.refusal.Error(), nil)
		pause(ctx)
	}
}

// pause is between two looks.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Second):
	}
}

// patience is for how long what does not answer is asked again.
func (w *world) patience() time.Duration { return w.Timeout / 60 }

// adopt takes over the connections that were made for an observation.
func (w *world) adopt(o observation) error {
	w.bootstrap, w.management = o.bootstrap.cluster, o.management.cluster
	if o.management.cluster == nil {
		return nil
	}
	return w.save(o.management.cluster.Kubeconfig) // a load balancer that was started again publishes another port
}

// confirm looks again right before something is done that cannot be undone, and fails unless the verdict is the one that allows it.
func (w *world) confirm(ctx context.Context, allows decision) (observation, error) {
	deadline := w.Now().Add(w.patience())
	var o observation
	var v verdict
	for {
		o = w.observe(ctx)
		if err := ctx.Err(); err != nil {
			return o, err
		}
		v = judge(o, w.request(o))
		if v.decision == allows {
			return o, nil
		}
		passes := v.again || v.decision == start // an answer may come late, and a container that is being made looks stopped
		if !passes || !w.Now().Before(deadline) {
			break
		}
		pause(ctx)
	}
	if v.decision == refuse {
		return o, errors.Join(v.refusal, w.keepBootstrapKubeconfig(o.bootstrap.cluster))
	}
	return o, fault.Retryable(fmt.Errorf("meanwhile something else has changed what there is: %s", w.different(v)), fault.Busy,
		"Is another run at work on this environment? When it is over, run the same command again.")
}

func (w *world) different(v verdict) string {
	if v.why != "" {
		return v.why
	}
	return "something of " + w.Environment.ClusterName() + " was stopped"
}

// request is what verdicts about o need to know of this run.
func (w *world) request(o observation) request {
	r := request{
		environment: w.Environment.Name(), cluster: w.Environment.ClusterName(), namespace: w.Environment.ClusterNamespace(),
		place: w.Provider.Place(), kubeconfig: w.KubeconfigPath, backups: w.StateFolder,
		source: w.side(o.bootstrap.cluster), target: w.side(o.management.cluster),
	}
	if w.BootstrapKubeconfig == "" {
		r.node = kind.NodeName(w.BootstrapName())
	}
	return r
}
