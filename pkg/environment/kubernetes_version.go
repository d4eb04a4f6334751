package environment

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// The minor versions of Kubernetes 1 that Cluster API v1.14 supports:
// https://cluster-api.sigs.k8s.io/reference/versions. A test compares them with the table of the release in go.mod.
const (
	oldestManagement = 33
	oldestWorkload   = 31
	newestKubernetes = 37
)

// CheckKubernetesVersion refuses a version of Kubernetes that Cluster API does not support for this kind of cluster.
func (e *Environment) CheckKubernetesVersion() error {
	wanted := e.Spec().Cluster.KubernetesVersion
	v, err := version.ParseGeneric(wanted)
	if err != nil {
		return fault.Wrap(fmt.Errorf("cluster.kubernetes_version is %q: %w", wanted, err), fault.ValuesInvalid,
			"Write it as v1.36.4.")
	}
	oldest, what := uint(oldestManagement), "management"
	if e.lasting() == Workload {
		oldest, what = oldestWorkload, "workload"
	}
	if supports(v, oldest) {
		return nil
	}
	return fault.New(fault.ValuesInvalid,
		fmt.Sprintf("cluster.kubernetes_version is %s, and Cluster API supports 1.%d to 1.%d for a %s cluster", wanted,
			oldest, newestKubernetes, what),
		"Set cluster.kubernetes_version to a version in that range.")
}

// CheckServerVersion refuses an existing cluster whose API server has a version that Cluster API does not support for a
// management cluster.
func CheckServerVersion(served string) error {
	v, err := version.ParseGeneric(served)
	switch {
	case err != nil:
		return fmt.Errorf("read the version of the API server, %q: %w", served, err)
	case supports(v, oldestManagement):
		return nil
	}
	return fault.New(fault.ClusterFailed, fmt.Sprintf("the cluster runs Kubernetes %s, and Cluster API supports 1.%d "+
		"to "+
		"1.%d for a management cluster", served, oldestManagement, newestKubernetes),
		"Upgrade the cluster, or take another one.")
}

func supports(v *version.Version, oldest uint) bool {
	return v.Major() == 1 && v.Minor() >= oldest && v.Minor() <= newestKubernetes
}
