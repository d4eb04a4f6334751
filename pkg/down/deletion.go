package down

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// deletion deletes the Cluster in the bootstrap cluster, and watches until it is gone.
type deletion struct {
	world     world
	others    otherClusters
	scope     clusters.Scope
	heartbeat time.Duration // how often it reports what it waits for
	now       func() time.Time
}

func (d deletion) check(ctx context.Context) (pipeline.Status, error) {
	v, err := d.world.peekBootstrap(ctx)
	if err != nil || v.decision != sweep {
		return pipeline.Status{}, err
	}
	return pipeline.Status{State: pipeline.Done, Message: v.reason}, nil
}

// run confirms the decision again first. It makes sure that nothing recreates the Cluster: it suspends Flux, and marks
// the Cluster for the next run.
func (d deletion) run(ctx context.Context, report pipeline.Reporter) error {
	o, err := d.world.confirm(ctx, remove)
	if err != nil {
		return err
	}
	if err := d.others.requireNone(ctx, o); err != nil {
		return err
	}
	// After a requested teardown, the deletion begins only once the management cluster has answered: it may manage
	// other clusters.
	if self := o.Bootstrap.Holds.Cluster(d.scope.Cluster); self != nil && !self.Deleting &&
		o.Bootstrap.TeardownRequested && o.Management.State == clusters.ManagementSilent {
		return observation{o}.silentManagement(d.world.request(o),
			"whether it manages other clusters is not known").refusal
	}
	c, err := d.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	if err := mark(ctx, c, d.scope); err != nil {
		return err
	}
	if err := clusters.Suspension(c, d.scope).Suspend(ctx); err != nil {
		return err
	}
	if err := rollout.MarkTakenDown(ctx, c, owned.SuspendedFor(d.scope.Namespace, d.scope.Cluster)); err != nil {
		return err
	}
	d.world.EndLease(clusters.ManagementName) // the cluster's API server goes with its machines
	return clusters.Deletion{Cluster: c, Heartbeat: d.heartbeat, Now: d.now}.Delete(ctx, d.scope, report)
}

// mark records on the management cluster's own Cluster, if c holds it, that a teardown was requested. The
// record moves with the Cluster.
func mark(ctx context.Context, c *kube.Cluster, scope clusters.Scope) error {
	self, err := clusters.Own(ctx, c, scope)
	if err != nil {
		return err
	}
	if self == nil || self.Annotations[owned.DownAnnotation] != "" {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, owned.DownAnnotation,
		owned.SuspendedFor(scope.Namespace, scope.Cluster))
	if err := c.Patch(ctx, self.Object.Unstructured(),
		client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return fault.Retryable(fmt.Errorf("note on %s that it is taken down: %w", self, err), fault.ClusterUnreachable,
			"Nothing was deleted. Run the same command again.")
	}
	return nil
}
