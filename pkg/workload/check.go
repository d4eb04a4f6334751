package workload

import (
	"context"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// checkName refuses the name of a HelmRelease or of a Cluster that `workload apply` did not make, before anything is
// applied over it.
func (c Cluster) checkName(ctx context.Context) error {
	key := c.Key()
	var release helmv2.HelmRelease
	err := c.Management.Get(ctx, key.release(), &release)
	switch {
	case err == nil && release.Labels[Label] == key.Name:
		return nil
	case err == nil:
		return fault.New(fault.ClusterForeign, fmt.Sprintf("a HelmRelease %s exists that is not of a workload cluster",
			key), "Give this one another --name or --namespace.")
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read the HelmRelease %s in the %s cluster: %w", key, c.Management.Name, err)
	}
	cluster, err := clusters.Own(ctx, c.Management, clusters.Scope{Namespace: key.Namespace, Cluster: key.Name})
	if err != nil {
		return fmt.Errorf("read the Cluster %s in the %s cluster: %w", key, c.Management.Name, err)
	}
	if cluster != nil {
		return fault.New(fault.ClusterForeign, fmt.Sprintf("a Cluster %s exists that workload apply did not make", key),
			"Give this one another --name or --namespace.")
	}
	return nil
}
