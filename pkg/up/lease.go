package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// settleAlone settles what is there while this run holds the leases of the clusters that it found: what another run did until it ended is
// seen too.
func (u *Run) settleAlone(ctx context.Context, report pipeline.Reporter) (observation, verdict, error) {
	for {
		o, v, err := u.settle(ctx, report)
		if err != nil {
			return o, v, err
		}
		taken := false
		for _, c := range []*kube.Cluster{o.bootstrap.cluster, o.management.cluster} {
			if c == nil {
				continue
			}
			fresh, err := u.takeLease(ctx, c, report)
			if err != nil {
				return o, v, err
			}
			taken = taken || fresh
		}
		if !taken {
			return o, v, nil
		}
	}
}

// takeLease takes the lease of this management cluster in c; false: this run has it already.
func (u *Run) takeLease(ctx context.Context, c *kube.Cluster, report pipeline.Reporter) (bool, error) {
	id, err := lease.MakeID(u.StateFolder)
	if err != nil {
		return false, err
	}
	holder, err := lease.Holder(id)
	if err != nil {
		return false, err
	}
	return u.Leases.Take(ctx, lease.Request{
		Config: c.Config, Where: where(c.Name), Name: lease.Name(u.Environment.ClusterNamespace(), u.Environment.ClusterName()), Holder: holder,
		Timing: lease.DefaultTiming(), Waiting: func(what string) { report.Waiting(what, nil) },
	})
}

func where(cluster string) string { return "the " + cluster + " cluster" }
