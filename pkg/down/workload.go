package down

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// otherClusters are the workload clusters that the management cluster manages.
type otherClusters struct {
	scope       clusters.Scope
	environment string
	delete      bool
	agreed      []string // as namespace/name: the user was shown that these would be deleted
}

// found returns the workload clusters of all namespaces, in both clusters. A move takes only those in its own namespace
// along.
func (a otherClusters) found(ctx context.Context, o clusters.Observation) (map[*kube.Cluster][]capi.Cluster, error) {
	all := map[*kube.Cluster][]capi.Cluster{}
	for _, c := range []*kube.Cluster{o.Management.Cluster, o.Bootstrap.Cluster} {
		if c == nil {
			continue
		}
		in, err := othersIn(ctx, c, a.scope)
		if err != nil {
			return nil, err
		}
		if len(in) > 0 {
			all[c] = in
		}
	}
	return all, nil
}

// requireNone refuses while there are workload clusters: the next step would lose them.
func (a otherClusters) requireNone(ctx context.Context, o clusters.Observation) error {
	found, err := a.found(ctx, o)
	if err != nil {
		return err
	}
	for c, in := range found {
		return refuseOthers(c, a.environment, in)
	}
	return nil
}

// checkDeletable refuses workload clusters that the user does not want deleted, or was not shown.
func (a otherClusters) checkDeletable(ctx context.Context, o clusters.Observation) (map[*kube.Cluster][]capi.Cluster,
	error) {
	found, err := a.found(ctx, o)
	if err != nil {
		return nil, err
	}
	for holder, in := range found {
		if !a.delete {
			return nil, refuseOthers(holder, a.environment, in)
		}
		if err := paused(in); err != nil {
			return nil, err
		}
		for _, c := range in {
			if name := c.Namespace + "/" + c.Name; !slices.Contains(a.agreed, name) {
				return nil, fault.New(fault.ConfirmationRequired, "the workload cluster "+name+" was not shown before",
					"Nothing of it was deleted. Run the same command again: it shows what there is now.")
			}
		}
	}
	return found, nil
}

// workloadClusters deletes, if the user wants that, the clusters that the management cluster manages. Its own
// controllers delete them.
type workloadClusters struct {
	world    world
	others   otherClusters
	deletion func(*kube.Cluster) deleteAndWait
	// fit reports whether the definition can be moved back afterwards.
	fit func(ctx context.Context, source, target clusters.Side, scope clusters.Scope) error
}

func (w workloadClusters) run(ctx context.Context, report pipeline.Reporter) error {
	o, v, err := w.world.look(ctx)
	if err != nil {
		return err
	}
	found, err := w.others.checkDeletable(ctx, o)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		report.Progress("none")
		return nil
	}
	if v.decision == moveBack {
		if err := w.movable(ctx); err != nil {
			return err
		}
	}
	for holder, in := range found {
		if err := w.take(ctx, holder, in, report); err != nil {
			return err
		}
	}
	return nil
}

// movable refuses to delete anything before a move that must not start. The management cluster would stay, without its
// workload clusters.
func (w workloadClusters) movable(ctx context.Context) error {
	bootstrap, err := w.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	management, err := w.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	if err := w.fit(ctx, w.world.Side(management), w.world.Side(bootstrap), w.others.scope); err != nil {
		return fmt.Errorf("no workload cluster is deleted while the management cluster itself could not be taken "+
			"down: %w", err)
	}
	return nil
}

// take deletes the workload clusters of a cluster, one after the other.
func (w workloadClusters) take(ctx context.Context, holder *kube.Cluster, all []capi.Cluster,
	report pipeline.Reporter) error {
	of := w.others.scope
	if err := mark(ctx, holder, of); err != nil { // from here on `up` must not keep the cluster
		return err
	}
	for _, c := range all {
		// This suspension is not that of a move: nothing resumes it.
		if err := rollout.SuspendOwner(ctx, holder, c.Labels, owned.SuspendedFor(of.Namespace, of.Cluster)+
			"/down"); err != nil {
			return err
		}
		if err := w.deletion(holder).delete(ctx, clusters.Scope{Namespace: c.Namespace, Cluster: c.Name},
			report); err != nil {
			return err
		}
	}
	return nil
}

// othersIn returns the Clusters of all namespaces, without the management cluster's own.
func othersIn(ctx context.Context, c *kube.Cluster, own clusters.Scope) ([]capi.Cluster, error) {
	others, err := clusters.Others(ctx, c, own)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("see which other clusters the %s cluster manages: %w", c.Name, err),
			fault.ClusterUnreachable,
			"They would be lost with it, so nothing is done while that is not known. Run the same command again when "+
				"it can be read.")
	}
	return others, nil
}

// refuseOthers refuses while a cluster manages other clusters, which would be lost with it.
func refuseOthers(holder *kube.Cluster, environment string, others []capi.Cluster) error {
	var names []string
	for _, c := range others {
		names = append(names, c.Namespace+"/"+c.Name)
	}
	return fault.New(fault.CleanupRefused,
		fmt.Sprintf("the %s cluster manages other clusters, which would be lost with it: %s", holder.Name,
			strings.Join(names, ", ")),
		"Move them to where they are to be managed (clusterctl move), or delete them with it: cluster-init down "+
			environment+" --with-workload-clusters.")
}

// paused refuses Clusters that no controller would delete, because they are paused.
func paused(all []capi.Cluster) error {
	var names []string
	for _, c := range all {
		if c.Paused {
			names = append(names, c.Namespace+"/"+c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fault.New(fault.CleanupRefused, "these clusters are paused, so nobody would delete their machines: "+
		strings.Join(names, ", "), "Resume them, and run the same command again.")
}
