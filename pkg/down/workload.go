package down

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// otherClusters finds the workload clusters that the management cluster or the bootstrap cluster manages.
type otherClusters struct {
	scope       clusters.Scope
	environment string
	delete      bool
	confirmed   []string // as namespace/name: the user was shown that these would be deleted
}

// managed are the workload clusters that one cluster manages, at least one.
type managed struct {
	holder   *kube.Cluster
	workload []capi.Cluster
}

// findAll returns the workload clusters in both clusters, those of the management cluster first. A move takes only its
// own namespace along, so findAll searches all namespaces.
func (o otherClusters) findAll(ctx context.Context, observed clusters.Observation) ([]managed, error) {
	var all []managed
	for _, holder := range []*kube.Cluster{observed.Management.Cluster, observed.Bootstrap.Cluster} {
		if holder == nil {
			continue
		}
		list, err := workloadIn(ctx, holder, o.scope)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			all = append(all, managed{holder, list})
		}
	}
	return all, nil
}

// requireNone refuses while there are workload clusters: the next step would lose them.
func (o otherClusters) requireNone(ctx context.Context, observed clusters.Observation) error {
	all, err := o.findAll(ctx, observed)
	if err != nil {
		return err
	}
	if len(all) > 0 {
		return refuseOthers(all[0].holder, o.environment, all[0].workload)
	}
	return nil
}

// findDeletable returns the workload clusters. It refuses if the user does not want them deleted or was not shown one
// of them, or if one is paused.
func (o otherClusters) findDeletable(ctx context.Context, observed clusters.Observation) ([]managed, error) {
	all, err := o.findAll(ctx, observed)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if !o.delete {
			return nil, refuseOthers(m.holder, o.environment, m.workload)
		}
		if err := refusePaused(m.workload); err != nil {
			return nil, err
		}
		for _, c := range m.workload {
			if name := c.Namespace + "/" + c.Name; !slices.Contains(o.confirmed, name) {
				return nil, fault.New(fault.ConfirmationRequired, "the workload cluster "+name+" was not shown before",
					"Nothing of it was deleted. Run the same command again: it shows what there is now.")
			}
		}
	}
	return all, nil
}

// workloadClusters deletes the workload clusters if the user confirmed it: the controllers of the cluster that holds
// them delete their machines.
type workloadClusters struct {
	world    world
	others   otherClusters
	deletion func(*kube.Cluster) clusters.Deletion
	provider func(environment.Objects) (provider.Provider, error) // see Options.WorkloadProvider
	// checkMove returns why the definition cannot be moved back afterwards.
	checkMove func(ctx context.Context, source, target clusters.Side, scope clusters.Scope) error
}

func (w workloadClusters) run(ctx context.Context, report pipeline.Reporter) error {
	o, v, err := w.world.observe(ctx)
	if err != nil {
		return err
	}
	all, err := w.others.findDeletable(ctx, o)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		report.Progress("none")
		return nil
	}
	if v.decision == moveBack {
		if err := w.requireMovable(ctx); err != nil {
			return err
		}
	}
	for _, m := range all {
		if err := w.deleteAll(ctx, m.holder, m.workload, report); err != nil {
			return err
		}
	}
	return nil
}

// requireMovable fails if the definition cannot be moved back. Nothing is deleted then. Otherwise the management
// cluster would stay, without its workload clusters.
func (w workloadClusters) requireMovable(ctx context.Context) error {
	bootstrap, err := w.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	management, err := w.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	if err := w.checkMove(ctx, w.world.Side(management), w.world.Side(bootstrap), w.others.scope); err != nil {
		return fmt.Errorf("no workload cluster is deleted while the management cluster itself could not be taken "+
			"down: %w", err)
	}
	return nil
}

// permanentSuspension is the suffix of a suspension that a finished move does not resume.
const permanentSuspension = "/down"

// deleteAll deletes the workload clusters of a cluster, one after the other.
func (w workloadClusters) deleteAll(ctx context.Context, holder *kube.Cluster, list []capi.Cluster,
	report pipeline.Reporter) error {
	scope := w.others.scope
	releases, err := workload.Releases(ctx, holder)
	if err != nil {
		return err
	}
	deletion := func(key workload.Key) workload.Deletion {
		return workload.Deletion{Management: holder, Key: key, Cluster: w.deletion(holder), Provider: w.provider}
	}
	for _, c := range list { // before the mark, with which `workload apply` stores no values
		key := workload.Key{Namespace: c.Namespace, Name: c.Name}
		if _, released := releases[key]; released {
			if err := deletion(key).CheckAddress(ctx); err != nil {
				return err
			}
		}
	}
	if err := mark(ctx, holder, scope); err != nil { // from here on `up` must not keep the cluster
		return err
	}
	suspendedFor := owned.SuspendedFor(scope.Namespace, scope.Cluster) + permanentSuspension
	for _, c := range list {
		key := workload.Key{Namespace: c.Namespace, Name: c.Name}
		labels, released := releases[key]
		if !released {
			labels = c.Labels
		}
		if err := rollout.SuspendOwner(ctx, holder, labels, suspendedFor); err != nil {
			return err
		}
		if released { // it has more than its Cluster: server groups, for example
			err = deletion(key).Run(ctx, report)
		} else {
			err = w.deletion(holder).Delete(ctx, clusters.Scope{Namespace: c.Namespace, Cluster: c.Name}, report)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// workloadIn returns the Clusters of all namespaces, without the management cluster's own: self. It includes releases
// whose Cluster does not exist: an interrupted deletion can leave one, with objects in the cloud.
func workloadIn(ctx context.Context, c *kube.Cluster, self clusters.Scope) ([]capi.Cluster, error) {
	found, err := clusters.Others(ctx, c, self)
	if err == nil {
		var releases map[workload.Key]map[string]string
		releases, err = workload.Releases(ctx, c)
		for _, other := range found {
			delete(releases, workload.Key{Namespace: other.Namespace, Name: other.Name})
		}
		for _, key := range slices.SortedFunc(maps.Keys(releases), workload.Key.Compare) {
			found = append(found, capi.Cluster{Object: capi.Object{Namespace: key.Namespace, Name: key.Name}})
		}
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("see which other clusters the %s cluster manages: %w", c.Name, err),
			fault.ClusterUnreachable,
			"They would be lost with it, so nothing is done while that is not known. Run the same command again when "+
				"it can be read.")
	}
	return found, nil
}

// refuseOthers returns the error for remaining workload clusters.
func refuseOthers(holder *kube.Cluster, environment string, workload []capi.Cluster) error {
	var names []string
	for _, c := range workload {
		names = append(names, c.Namespace+"/"+c.Name)
	}
	return fault.New(fault.CleanupRefused,
		fmt.Sprintf("the %s cluster manages other clusters, which would be lost with it: %s", holder.Name,
			strings.Join(names, ", ")),
		"Move them to where they are to be managed (clusterctl move), or delete them with it: cluster-init down "+
			environment+" --with-workload-clusters.")
}

// refusePaused refuses Clusters that no controller deletes, because they are paused.
func refusePaused(workload []capi.Cluster) error {
	var names []string
	for _, c := range workload {
		if c.Paused {
			names = append(names, c.Namespace+"/"+c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fault.New(fault.CleanupRefused, "these clusters are paused, so no controller deletes their machines: "+
		strings.Join(names, ", "), "Resume them, and run the same command again.")
}
