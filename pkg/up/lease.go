package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// settleAlone settles what is there while this run holds the leases of the clusters that it found. Where somebody else had one until now it
// looks again: what that one did is seen too.
func (w *world) settleAlone(ctx context.Context, report pipeline.Reporter) (observation, verdict, error) {
	for {
		o, v, err := w.settle(ctx, report)
		if err != nil {
			return o, v, err
		}
		changed := false
		for _, c := range []*kube.Cluster{o.bootstrap.cluster, o.management.cluster} {
			if c == nil {
				continue
			}
			waited, err := w.takeLease(ctx, c, report)
			if err != nil {
				return o, v, err
			}
			changed = changed || waited
		}
		if !changed {
			return o, v, nil
		}
	}
}

// takeLease takes the lease of this management cluster in c, unless this run has it already. waited is whether somebody else had it.
func (w *world) takeLease(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) (waited bool, err error) {
	id, err := lease.MakeID(w.StateFolder)
	if err != nil {
		return false, err
	}
	holder, err := lease.Holder(id)
	if err != nil {
		return false, err
	}
	return w.Leases.Take(ctx, lease.Request{
		Config: c.Config, Where: where(c.Name), Name: lease.Name(w.Environment.ClusterNamespace(), w.Environment.ClusterName()), Holder: holder,
		Timing: lease.DefaultTiming(), Waiting: func(what string) { report.Waiting(what, nil) },
	})
}

// endLease has the lease in a cluster end with that cluster, whose deletion begins.
func (w *world) endLease(cluster string) { w.Leases.EndWithCluster(where(cluster)) }

func where(cluster string) string { return "the " + cluster + " cluster" }
