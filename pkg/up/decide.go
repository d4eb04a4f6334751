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
	confirmedNew bool // the user confirmed that the cluster does not exist yet
}

func newDecider(w *clusters.World, confirmedNew bool) *decider {
	d := &decider{confirmedNew: confirmedNew}
	d.Decider = clusters.Decider[verdict]{World: w, Judge: func(o clusters.Observation) (verdict, clusters.Decision) {
		v := judge(o, d.request(o))
		return v, clusters.Decision{Start: v.decision == start, Refusal: v.refusal, Retryable: v.retryable,
			Reason: v.reason}
	}}
	return d
}

// confirm observes the clusters again before a step that cannot be undone. It fails unless the new verdict is wanted.
func (d *decider) confirm(ctx context.Context, wanted decision) (clusters.Observation, error) {
	return d.Confirm(ctx, func(v verdict) bool { return v.decision == wanted }, stoppedMeanwhile(d.Cluster))
}

func stoppedMeanwhile(cluster string) error {
	return fault.Retryable(fmt.Errorf("a container of %s stopped while this run was working", cluster), fault.Busy,
		"Run the same command again, which starts it.")
}

// currentDecision observes the clusters and returns the decision. It retries while a cluster does not answer. A refusal
// is returned as an error.
func (d *decider) currentDecision(ctx context.Context) (decision, error) {
	if _, err := d.Connected(clusters.ManagementName); err != nil { // no cluster was observed that could hold it
		return beforePivot, nil
	}
	o, v, err := d.Standing(ctx, d.ObserveClusters)
	if err != nil { // The hint may name the bootstrap kubeconfig file, so write it.
		return refuse, errors.Join(err, d.KeepBootstrapKubeconfig(o.Bootstrap.Cluster))
	}
	return v.decision, nil
}

// request returns the run's facts that judge needs besides the observation.
func (d *decider) request(o clusters.Observation) request {
	r := request{
		environment: d.Argument, cluster: d.Cluster,
		namespace: d.Namespace,
		place:     d.Provider.Place(), kubeconfig: d.KubeconfigPath, backups: d.StateFolder,
		source: d.Side(o.Bootstrap.Cluster), target: d.Side(o.Management.Cluster),
		confirmedNew: d.confirmedNew,
	}
	if p, ok := d.Provider.(provider.CleanupUnsupported); ok {
		r.listCommand = p.Find(r.cluster)
	}
	if d.BootstrapKubeconfig == "" {
		r.bootstrapContainer = kind.NodeName(d.BootstrapName())
	}
	return r
}
