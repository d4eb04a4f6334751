package clusters

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Answering connects to those of the two clusters that answer, to observe them after a failure at any point of a run.
// The error names those that should answer and do not.
func (w *World) Answering(ctx context.Context) ([]*kube.Cluster, error) {
	bootstrap, bootstrapErr := w.reachBootstrap(ctx)
	management, managementErr := w.reachManagement(ctx, bootstrap)
	var clusters []*kube.Cluster
	for _, c := range []*kube.Cluster{bootstrap, management} {
		if c != nil {
			clusters = append(clusters, c)
		}
	}
	return clusters, errors.Join(bootstrapErr, managementErr)
}

// reachBootstrap returns nil without an error if there is no bootstrap cluster, or one that never held anything.
func (w *World) reachBootstrap(ctx context.Context) (*kube.Cluster, error) {
	if w.BootstrapKubeconfig == "" {
		side := w.seeNode(ctx)
		if side.Err != nil || side.State == BootstrapAbsent || side.State == BootstrapUnfinished {
			return nil, side.Err
		}
	}
	c, err := w.connectBootstrap(ctx)
	if err != nil {
		return nil, fmt.Errorf("the bootstrap cluster exists: %w", err)
	}
	return c, nil
}

// reachManagement returns nil without an error as long as no management cluster is expected.
func (w *World) reachManagement(ctx context.Context, bootstrap *kube.Cluster) (*kube.Cluster, error) {
	if known := w.management; known != nil {
		if err := known.Reachable(ctx); err != nil {
			return nil, err
		}
		return known, nil
	}
	var fromBootstrap []byte
	if bootstrap != nil {
		var err error
		if fromBootstrap, _, err = w.managementKubeconfig(ctx, bootstrap); err != nil {
			return nil, err
		}
	}
	side := w.SeeManagement(ctx, fromBootstrap)
	if side.State == ManagementSilent && bootstrap != nil && w.builds(ctx, bootstrap) {
		return nil, nil // it has not answered yet
	}
	return side.Cluster, side.Err
}

// builds reports whether a bootstrap cluster holds the active definition: then the management cluster is still being
// created.
func (w *World) builds(ctx context.Context, bootstrap *kube.Cluster) bool {
	holds, _, err := w.hold(ctx, bootstrap)
	own := holds.Cluster(w.Cluster)
	return err == nil && own != nil && !own.Paused
}
