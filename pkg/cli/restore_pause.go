package cli

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

const (
	// pauseBound is more than Kubernetes needs to move Cluster API's controllers off lost machines: while their
	// webhooks do not run, no Cluster can be changed, and none of the controllers acts.
	pauseBound    = 15 * time.Minute
	pauseInterval = 2 * time.Second
)

// pauseOthers pauses all Clusters but the management cluster's own, and returns them: their definitions are those of
// the snapshot, and Cluster API would make their machines fit them.
func pauseOthers(ctx context.Context, c *kube.Cluster, of backup.Manifest, say func(string)) ([]string, error) {
	bounded, cancel := context.WithTimeout(ctx, pauseBound)
	defer cancel()
	names := []string{}
	for said := false; ; {
		all, err := capi.Clusters(bounded, c, "")
		for _, one := range all {
			key := client.ObjectKey{Namespace: one.Namespace, Name: one.Name}
			if key.Namespace == of.Namespace && key.Name == of.Cluster || one.Paused {
				continue
			}
			if failed := capi.Pause(bounded, c, key); failed != nil {
				err = failed
				continue
			}
			names = append(names, key.String())
		}
		if err == nil {
			return names, nil
		}
		if !said {
			say(fmt.Sprintf("pausing the workload clusters, once Cluster API runs (at most %s): %v", pauseBound, err))
			said = true
		}
		select {
		case <-bounded.Done():
			if ctx.Err() != nil {
				return names, context.Cause(ctx)
			}
			return names, fault.Retryable(fmt.Errorf("etcd is restored, but workload clusters could not be paused "+
				"within %s: %w", pauseBound, err), fault.RestoreFailed,
				"Run the same command again: it pauses them. Or pause each that has changed since the snapshot.")
		case <-time.After(pauseInterval):
		}
	}
}
