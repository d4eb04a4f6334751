package install

import (
	"context"
	"fmt"
	"maps"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// readOwner reads whose management cluster it is.
func (r *Removal) readOwner(ctx context.Context, found *inventory) error {
	of, err := r.installedAs(ctx, found.mark)
	if err != nil {
		return err
	}
	if of != "" {
		found.installed, found.of = of == owned.SuspendedFor(r.Namespace, r.Cluster), of
		return nil
	}
	own, err := clusters.Own(ctx, r.cluster, r.Scope)
	if err != nil {
		return fmt.Errorf("read the Cluster %s/%s: %w", r.Namespace, r.Cluster, err)
	}
	by, _, err := rollout.Occupied(ctx, r.cluster)
	if err != nil {
		return err
	}
	release := metadataOf(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind))
	release.Namespace, release.Name = flux.Namespace, flux.ReleaseName
	exists, err := r.cluster.Exists(ctx, release)
	switch {
	case err != nil:
		return err
	case own != nil:
		found.occupied = fmt.Sprintf("the cluster holds the Cluster %s/%s, and cluster-init up builds or has built it",
			r.Namespace, r.Cluster)
	case by != "":
		found.occupied = "the cluster has values of the management cluster " + by + " that install did not store"
	case exists:
		found.occupied = fmt.Sprintf("HelmRelease %s was not created by cluster-init install", ownRelease())
	case slices.ContainsFunc(found.flux, func(o object) bool { return o.Kind != "Namespace" }):
		found.occupied = "the cluster has Flux of cluster-init, and no release: a run of up or install is not finished"
	}
	return nil
}

// installedAs returns which management cluster the cluster is, by the mark. While the namespace of Flux is being
// deleted, with the mark in it, that namespace says so.
func (r *Removal) installedAs(ctx context.Context, m mark) (string, error) {
	if m.ConfigMap != nil && m.Annotations[owned.InstalledAnnotation] != "" {
		return m.Annotations[owned.InstalledAnnotation], nil
	}
	namespace := &corev1.Namespace{}
	namespace.Name = flux.Namespace
	exists, err := r.cluster.Exists(ctx, namespace)
	if err != nil || !exists || namespace.DeletionTimestamp == nil {
		return "", err
	}
	return namespace.Annotations[owned.RemovalAnnotation], nil
}

// readOthers reads who else needs what would be deleted.
func (r *Removal) readOthers(ctx context.Context, found *inventory) error {
	var err error
	if found.workload, err = r.workloadClusters(ctx); err != nil {
		return err
	}
	all, err := r.collected(ctx, *found, found.lost())
	if err != nil {
		return err
	}
	found.readNamespaces(all)
	for _, o := range found.instances(all, found.flux) {
		found.fluxUsers = append(found.fluxUsers, called(o))
	}
	slices.Sort(found.fluxUsers)
	using, err := r.usingDependents(ctx, *found, found.lost())
	found.dependents = unique(append(found.deletedDependents(all, found.lost()), using...))
	return err
}

// workloadClusters returns the Clusters of all namespaces, and those of which only the release is there.
func (r *Removal) workloadClusters(ctx context.Context) ([]string, error) {
	all, err := capi.Clusters(ctx, r.cluster, "")
	if err != nil {
		return nil, fmt.Errorf("list the Clusters: %w", err)
	}
	unique := map[string]bool{}
	for _, c := range all {
		unique[c.Namespace+"/"+c.Name] = true
	}
	releases, err := workload.Releases(ctx, r.cluster)
	if err != nil {
		return nil, err
	}
	for key := range releases {
		unique[key.String()] = true
	}
	return slices.Sorted(maps.Keys(unique)), nil
}

// judgeRemoval refuses a cluster from which nothing may be taken. The first rule that applies decides.
func judgeRemoval(i inventory, of clusters.Subject) error {
	switch {
	case i.of != "" && !i.installed:
		return fault.New(fault.ClusterForeign, fmt.Sprintf("the cluster is the management cluster %s, not %s; "+
			"nothing was deleted", i.of, owned.SuspendedFor(of.Namespace, of.Cluster)),
			"Name its environment. If it has another name: --set cluster.name=NAME.")
	case i.occupied != "":
		return fault.New(fault.ClusterForeign, i.occupied+"; nothing was deleted",
			"To delete a management cluster that up built: cluster-init down "+of.Argument+". To finish an "+
				"interrupted install, run it again with the same flags.")
	case !i.installed:
		return nil
	case len(i.workload) > 0:
		return fault.New(fault.CleanupRefused, "the cluster manages workload clusters: "+
			abbreviatedNames(i.workload)+"; nothing was deleted", "Delete each one: cluster-init workload delete "+
			i.workload[0]+" --in "+of.Argument+" --kubeconfig "+oneline.Shell(of.KubeconfigPath)+
			". Or move them to another management cluster (clusterctl move).")
	case len(i.dependents) > 0:
		return fault.New(fault.CleanupRefused, "objects of other owners would be deleted, or need what would be: "+
			dependentNames(i.dependents)+"; nothing was deleted",
			"Move them to another cluster. If they are not needed, delete them: "+
				deletion(i.dependents, of.KubeconfigPath))
	}
	return nil
}
