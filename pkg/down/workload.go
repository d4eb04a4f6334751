package down

import (
	"context"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// workloadClusters refuses while the management cluster manages others, or deletes them first, with its own controllers, where the user wants that.
type workloadClusters struct {
	world       clusters
	scope       pivot.Scope
	environment string
	delete      bool
	farewell    func(*kube.Cluster) farewell
}

func (w workloadClusters) run(ctx context.Context, report pipeline.Reporter) error {
	o, v, err := w.world.look(ctx)
	if err != nil {
		return err
	}
	holder := holderOf(o, v)
	if holder == nil {
		report.Progress("none: %s", v.why)
		return nil
	}
	others, err := othersIn(ctx, holder, w.scope)
	if err != nil {
		return err
	}
	if len(others) == 0 {
		report.Progress("none")
		return nil
	}
	if !w.delete {
		return refuseOthers(w.scope, w.environment, others)
	}
	if err := paused(others); err != nil {
		return err
	}
	if err := mark(ctx, holder, w.scope); err != nil { // from here on it must not be taken for one that is to be kept
		return err
	}
	for _, c := range others {
		if err := rollout.SuspendOwner(ctx, holder, c.Labels, owned.SuspendedFor(w.scope.Namespace, w.scope.Cluster)); err != nil {
			return err
		}
		if err := w.farewell(holder).delete(ctx, pivot.Scope{Namespace: c.Namespace, Cluster: c.Name}, report); err != nil {
			return err
		}
	}
	return nil
}

// holderOf is the cluster whose controllers look after everything; nil: nobody does.
func holderOf(o world.Observation, v verdict) *kube.Cluster {
	switch v.decision {
	case moveBack:
		return o.Management.Cluster
	case remove:
		return o.Bootstrap.Cluster
	}
	return nil
}

// othersIn returns the Clusters of all namespaces but the management cluster's own.
func othersIn(ctx context.Context, c *kube.Cluster, own pivot.Scope) ([]capi.Cluster, error) {
	all, err := capi.Clusters(ctx, c, "")
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("see which other clusters the %s cluster manages: %w", c.Name, err), fault.ClusterUnreachable,
			"They would be lost with it, so nothing is done while that is not known. Run the same command again when it can be read.")
	}
	var others []capi.Cluster
	for _, c := range all {
		if c.Namespace != own.Namespace || c.Name != own.Cluster {
			others = append(others, c)
		}
	}
	return others, nil
}

// refuseOthers refuses to take a management cluster down that manages others.
func refuseOthers(own pivot.Scope, environment string, others []capi.Cluster) error {
	var names []string
	for _, c := range others {
		names = append(names, c.Namespace+"/"+c.Name)
	}
	return fault.New(fault.CleanupRefused, fmt.Sprintf("the management cluster %s manages other clusters: %s", own.Cluster, strings.Join(names, ", ")),
		"Nothing was deleted. Move them to where they are to be managed (clusterctl move), or delete them with it: cluster-init down "+environment+" --with-workload-clusters.")
}

// paused refuses Clusters that no controller would delete.
func paused(clusters []capi.Cluster) error {
	var names []string
	for _, c := range clusters {
		if c.Paused {
			names = append(names, c.Namespace+"/"+c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fault.New(fault.CleanupRefused, "these clusters are paused, so nobody would delete their machines: "+strings.Join(names, ", "), "Resume them, and run the same command again.")
}
