package clusters

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// TakeLease takes the lease of this management cluster in c, unless this run has it already. waited reports whether
// another process held it.
func (w *World) TakeLease(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) (waited bool, err error) {
	id, err := lease.MakeID(w.StateFolder)
	if err != nil {
		return false, err
	}
	holder, err := lease.Holder(id)
	if err != nil {
		return false, err
	}
	return w.Leases.Take(ctx, lease.Request{
		Config: c.Config, Where: LeasedIn(c.Name), Name: lease.Name(w.Namespace,
			w.Cluster), Holder: holder,
		Timing: lease.DefaultTiming(), Waiting: func(what string) { report.Waiting(what, nil) },
	})
}

// EndLease stops renewing the lease in a cluster whose deletion begins.
func (w *World) EndLease(cluster string) { w.Leases.StopRenewing(LeasedIn(cluster)) }

// LeasedIn returns the name of a cluster in leases and their messages.
func LeasedIn(cluster string) string { return "the " + cluster + " cluster" }
