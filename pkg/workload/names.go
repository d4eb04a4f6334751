package workload

import (
	"context"
	"errors"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// checkFirst refuses a new cluster whose resources exist already as those of another cluster: the infrastructure
// provider would take them over, and delete them with the new cluster. It accepts a cluster that has a release.
func (c Cluster) checkFirst(ctx context.Context, report pipeline.Reporter) error {
	all, err := List(ctx, c.Management, Key{}) // with the management cluster's own
	if err != nil {
		return err
	}
	key := c.Key()
	var problems []error
	for _, l := range all {
		other := Key{l.Namespace, l.Name}
		if other == key && l.Release {
			return nil
		}
		if other != key && l.Name == key.Name && c.SharesName() {
			problems = append(problems, fault.New(fault.ClusterForeign, fmt.Sprintf("the cluster %s has the same "+
				"name, and %s finds the resources of a cluster by its name alone", other, c.Provider.Place()),
				"Give the workload cluster another --name."))
		}
	}
	if len(problems) > 0 {
		return fault.Join(problems...)
	}
	return c.checkMachines(ctx, report)
}

// SharesName reports whether the provider knows the resources of the cluster by its name alone: then no other
// namespace can have a cluster of this name.
func (c Cluster) SharesName() bool {
	sharer, is := c.Provider.(provider.NameSharer)
	return is && sharer.SharesNames()
}

// checkMachines refuses a new cluster if machines of its name exist, for example of another management cluster. It
// warns if they cannot be listed from here: the management cluster may work with another Docker engine.
func (c Cluster) checkMachines(ctx context.Context, report pipeline.Reporter) error {
	machines, err := c.Provider.Machines(ctx)
	switch {
	case errors.Is(err, provider.ErrNotSupported):
		return nil
	case fault.CodeOf(err) == fault.ClusterForeign:
		return fault.New(fault.ClusterForeign, err.Error(),
			"Delete that cluster, or give the workload cluster another --name.")
	case err != nil:
		report.Warn("not checked: whether %s has machines of another cluster %s: %v", c.Provider.Place(), c.Key().Name,
			err)
		return nil
	case len(machines) == 0:
		return nil
	}
	return fault.New(fault.ClusterForeign, fmt.Sprintf("%s has the machine %s of another cluster %s, which the "+
		"management cluster %s does not manage", c.Provider.Place(), machines[0].Name, c.Key().Name, c.Self),
		"Delete that cluster, or give the workload cluster another --name.")
}

// checkOwner refuses a release that Flux applies, for example of a Git repository: it would undo the change.
func (c Cluster) checkOwner(ctx context.Context) error {
	release := &metav1.PartialObjectMetadata{}
	release.SetGroupVersionKind(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind))
	if err := c.Management.Get(ctx, c.Key().object(), release); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the HelmRelease %s: %w", c.Key(), err)
	}
	appliers, err := appliersOf(ctx, c.Management, c.Key(), release.Labels)
	if err != nil {
		return err
	}
	var wrong []error
	for _, a := range appliers {
		wrong = append(wrong, fault.New(fault.ClusterForeign, fmt.Sprintf("the %s applies the HelmRelease %s, and "+
			"would undo the change", a, c.Key()), "Commit what cluster-init workload render prints to the source of "+
			"that "+a.Kind+", or suspend it: "+a.SuspendCommand()+"."))
	}
	return fault.Join(wrong...)
}
