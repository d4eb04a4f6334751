package clusters

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Deletion deletes Clusters in the cluster whose controllers manage them, and waits until they are gone.
type Deletion struct {
	Cluster   *kube.Cluster
	Heartbeat time.Duration
	Now       func() time.Time
}

// Delete deletes one Cluster. Cluster API keeps it until all that belongs to it is gone. Delete reports what it waits
// for when that changes, and after each Heartbeat. Before it, suspend what would apply the Cluster again.
func (d Deletion) Delete(ctx context.Context, scope Scope, report pipeline.Reporter) error {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	var reported time.Time
	var last, awaited string
	for {
		gone, err := d.request(ctx, scope, report)
		if gone {
			report.Progress("Cluster %s/%s is gone", scope.Namespace, scope.Cluster)
			return nil
		}
		if awaited = d.awaited(ctx, scope); err != nil {
			awaited = err.Error()
		}
		if awaited != last || d.Now().Sub(reported) >= d.Heartbeat {
			report.Waiting(fmt.Sprintf("the end of Cluster %s/%s: %s", scope.Namespace, scope.Cluster, awaited), nil)
			last, reported = awaited, d.Now()
		}
		select {
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("Cluster %s/%s is not gone yet, it waits for %s: %w", scope.Namespace,
				scope.Cluster, awaited, ctx.Err()), fault.ComponentStuck,
				"Its controllers continue. See what the objects wait for, correct that, and run the same command again.")
		case <-tick.C:
		}
	}
}

// requestTimeout limits each call of request and of awaited.
const requestTimeout = 15 * time.Second

// request requests the deletion of the Cluster, once. It reports whether the Cluster is gone.
func (d Deletion) request(ctx context.Context, scope Scope, report pipeline.Reporter) (gone bool,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	cluster, err := Own(ctx, d.Cluster, scope)
	if err != nil || cluster == nil {
		return err == nil, err
	}
	if cluster.Deleting {
		return false, nil
	}
	if err = client.IgnoreNotFound(d.Cluster.Delete(ctx, cluster.Unstructured())); err == nil {
		report.Progress("deleting %s", cluster)
	}
	return false, err
}

// awaited names what the Cluster waits for. An error is named, and does not keep the Cluster from being deleted.
func (d Deletion) awaited(ctx context.Context, scope Scope) string {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	leaving, err := capi.Deleting(ctx, d.Cluster, scope.Namespace)
	if err != nil {
		return fmt.Sprintf("its controllers (not known for what: %v)", err)
	}
	return waitsFor(leaving)
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
