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
	return w.take(ctx, c, LeasedIn(c.Name), lease.Name(w.Namespace, w.Cluster), report)
}

// TakeInstallLeases takes two leases in an existing cluster: the one of this management cluster, and the one that keeps
// other environments from being installed in it or taken out of it.
func (w *World) TakeInstallLeases(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) error {
	if _, err := w.TakeLease(ctx, c, report); err != nil {
		return err
	}
	_, err := w.take(ctx, c, "the existing cluster", lease.InstallName, report)
	return err
}

// TakeNameLease takes the lease that keeps a second cluster of this name, in another namespace, from being made at the
// same time.
func (w *World) TakeNameLease(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) error {
	_, err := w.take(ctx, c, "the clusters with the name "+w.Cluster, lease.SharedName(w.Cluster), report)
	return err
}

func (w *World) take(ctx context.Context, c *kube.Cluster, where, name string, report pipeline.Reporter) (
	waited bool, err error) {
	id, err := lease.MakeID(w.StateFolder)
	if err != nil {
		return false, err
	}
	holder, err := lease.Holder(id)
	if err != nil {
		return false, err
	}
	return w.Leases.Take(ctx, lease.Request{
		Config: c.Config, Where: where, Name: name, Holder: holder,
		Timing: lease.DefaultTiming(), Waiting: func(what string) { report.Waiting(what, nil) },
	})
}

// EndLease stops renewing the lease in a cluster whose deletion begins.
func (w *World) EndLease(cluster string) { w.Leases.StopRenewing(LeasedIn(cluster)) }

// LeasedIn returns the name of a cluster in leases and their messages.
func LeasedIn(cluster string) string { return "the " + cluster + " cluster" }
