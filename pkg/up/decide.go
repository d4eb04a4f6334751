package up

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// decider is the world with the verdicts that `up` gives on it.
type decider struct {
	*world.World
	isNew bool // the user says that the cluster does not exist yet
}

// decideLeased looks, under the leases of what it found, until a verdict can stand.
func (w *decider) decideLeased(ctx context.Context, report pipeline.Reporter) (world.Observation, verdict, error) {
	var v verdict
	o, err := w.DecideLeased(ctx, report, func(o world.Observation) world.Decision {
		v = judge(o, w.request(o))
		return world.Decision{Start: v.decision == start, Refusal: v.refusal, Retryable: v.again}
	})
	return o, v, err
}

// confirm looks again right before something is done that cannot be undone, and fails unless the verdict is the one
// that allows it.
func (w *decider) confirm(ctx context.Context, allows decision) (world.Observation, error) {
	o, v, err := w.judgeUntil(ctx, w.Observe, func(_ world.Observation, v verdict) (done, again bool) {
		// an answer may come late, and a container that is being made looks stopped
		return v.decision == allows, v.again || v.decision == start
	})
	switch {
	case err != nil:
		return o, err
	case v.decision == allows:
		return o, nil
	case v.decision == refuse:
		return o, errors.Join(v.refusal, w.KeepBootstrapKubeconfig(o.Bootstrap.Cluster))
	}
	return o, fault.Retryable(fmt.Errorf("meanwhile something else has changed what there is: %s", w.different(v)),
		fault.Busy,
		"Is another run at work on this environment? When it is over, run the same command again.")
}

// progress looks how far the definition is. What does not answer is asked again for a while; then nobody knows, and
// that is an error.
func (w *decider) progress(ctx context.Context) (decision, error) {
	if _, err := w.Connected(world.ManagementName); err != nil { // nothing that was seen could hold it
		return goOn, nil
	}
	o, v, err := w.judgeUntil(ctx, w.ObserveClusters, func(_ world.Observation, v verdict) (
		done, again bool) {
		return v.decision != refuse, v.again
	})
	if err == nil && v.decision == refuse {
		err = errors.Join(v.refusal, w.KeepBootstrapKubeconfig(o.Bootstrap.Cluster))
	}
	if err != nil {
		return refuse, err
	}
	return v.decision, nil
}

// judgeUntil looks until a verdict is enough, or nobody may hope for a better one.
func (w *decider) judgeUntil(ctx context.Context, look func(context.Context) world.Observation,
	enough func(world.Observation, verdict) (done, again bool)) (o world.Observation, v verdict, err error) {
	err = w.LookUntil(ctx, look, func(seen world.Observation) (done, again bool) {
		o, v = seen, judge(seen, w.request(seen))
		return enough(seen, v)
	})
	return o, v, err
}

func (w *decider) different(v verdict) string {
	if v.why != "" {
		return v.why
	}
	return "something of " + w.Environment.ClusterName() + " was stopped"
}

// request is what verdicts about o need to know of this run.
func (w *decider) request(o world.Observation) request {
	r := request{
		environment: w.Environment.Argument(), cluster: w.Environment.ClusterName(),
		namespace: w.Environment.ClusterNamespace(),
		place:     w.Provider.Place(), kubeconfig: w.KubeconfigPath, backups: w.StateFolder,
		source: w.Side(o.Bootstrap.Cluster), target: w.Side(o.Management.Cluster),
	}
	r.isNew = w.isNew
	if p, is := w.Provider.(provider.CleanupUnsupported); is {
		r.find = p.Find(r.cluster)
	}
	if w.BootstrapKubeconfig == "" {
		r.node = kind.NodeName(w.BootstrapName())
	}
	return r
}
