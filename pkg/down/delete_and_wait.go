package down

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// deleteAndWait deletes Clusters in the cluster whose controllers manage them, and waits until they are gone.
type deleteAndWait struct {
	cluster   *kube.Cluster
	heartbeat time.Duration
	now       func() time.Time
}

// delete deletes one Cluster. Cluster API keeps it until all that belongs to it is gone. delete reports what it waits
// for when that changes, and after each heartbeat.
func (f deleteAndWait) delete(ctx context.Context, scope clusters.Scope, report pipeline.Reporter) error {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	var reported time.Time
	var last, awaited string
	for {
		cluster, leaving, err := f.observe(ctx, scope)
		if err == nil && cluster == nil {
			report.Progress("Cluster %s/%s is gone", scope.Namespace, scope.Cluster)
			return nil
		}
		if err == nil && !cluster.Deleting {
			if err = f.cluster.Delete(ctx, unstructuredOf(cluster.Object)); client.IgnoreNotFound(err) == nil {
				report.Progress("deleting %s", cluster)
			}
		}
		if err != nil {
			awaited = err.Error()
		} else {
			awaited = waitsFor(leaving)
		}
		if awaited != last || f.now().Sub(reported) >= f.heartbeat {
			report.Waiting(fmt.Sprintf("the end of Cluster %s/%s: %s", scope.Namespace, scope.Cluster, awaited), nil)
			last, reported = awaited, f.now()
		}
		select {
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("Cluster %s/%s is not gone yet, it waits for %s: %w", scope.Namespace,
				scope.Cluster, awaited, ctx.Err()), fault.ComponentStuck,
				"Its controllers go on. See what the objects wait for, put that right, and run the same command again.")
		case <-tick.C:
		}
	}
}

// observe returns the Cluster, and the objects of its namespace that are being deleted. The Cluster is nil when it is
// gone.
func (f deleteAndWait) observe(ctx context.Context, scope clusters.Scope) (*capi.Cluster, []capi.Leaving, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	cluster, err := clusters.Own(ctx, f.cluster, scope)
	if err != nil || cluster == nil {
		return nil, nil, err
	}
	leaving, err := capi.Deleting(ctx, f.cluster, scope.Namespace)
	return cluster, leaving, err
}

// waitsFor names each object that is not gone yet, with the reason of its controller, or with its finalizers.
func waitsFor(leaving []capi.Leaving) string {
	var all []string
	for _, l := range leaving {
		why := strings.Join(strings.Fields(l.Why), " ")
		if why == "" && len(l.Finalizers) > 0 {
			why = "finalizer " + strings.Join(l.Finalizers, ", ")
		}
		if why != "" {
			why = " (" + why + ")"
		}
		all = append(all, l.String()+why)
	}
	if len(all) == 0 {
		return "its controllers"
	}
	return strings.Join(all, "; ")
}
