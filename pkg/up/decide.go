package up

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// decider makes the verdicts of `up`.
type decider struct {
	clusters.Decider[verdict]
	isNew bool // the user says that the cluster does not exist yet
}

// newDecider returns the decider of a run. isNew reports that the user says that the cluster does not exist yet.
func newDecider(w *clusters.World, isNew bool) *decider {
	d := &decider{isNew: isNew}
	d.Decider = clusters.Decider[verdict]{World: w, Judge: func(o clusters.Observation) (verdict, clusters.Decision) {
		v := judge(o, d.request(o))
		return v, clusters.Decision{Start: v.decision == start, Refusal: v.refusal, Retryable: v.again, Reason: v.why}
	}}
	return d
}

// confirm observes the clusters again before a step that cannot be undone. It fails unless the verdict allows the step.
func (w *decider) confirm(ctx context.Context, allows decision) (clusters.Observation, error) {
	return w.Confirm(ctx, func(v verdict) bool { return v.decision == allows }, stoppedMeanwhile(w.Cluster))
}

func stoppedMeanwhile(cluster string) error {
	return fault.Retryable(fmt.Errorf("a container of %s stopped while this run was working", cluster), fault.Busy,
		"Run the same command again, which starts it.")
}

// progress reports how far the move of the definition is. If a cluster does not answer, it retries for a while, and
// then returns an error.
func (w *decider) progress(ctx context.Context) (decision, error) {
	if _, err := w.Connected(clusters.ManagementName); err != nil { // no cluster was observed that could hold it
		return goOn, nil
	}
	o, v, err := w.Standing(ctx, w.ObserveClusters)
	if err != nil { // its hint may name the file
		return refuse, errors.Join(err, w.KeepBootstrapKubeconfig(o.Bootstrap.Cluster))
	}
	return v.decision, nil
}

// request returns the facts about this run that verdicts about o need.
func (w *decider) request(o clusters.Observation) request {
	r := request{
		environment: w.Argument, cluster: w.Cluster,
		namespace: w.Namespace,
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
