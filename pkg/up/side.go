package up

import (
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// side is a cluster as the pivot knows it, with the kubeconfig that a person has of it.
func (w *world) side(c *kube.Cluster) pivot.Side {
	if c == nil {
		return pivot.Side{}
	}
	side := pivot.Side{Client: c.Client, Config: c.Config}
	switch {
	case c.Name == managementName:
		side.Kubeconfig = w.KubeconfigPath
	case w.BootstrapKubeconfig != "":
		side.Kubeconfig = w.BootstrapKubeconfig
	default:
		side.Kubeconfig = w.bootstrapKubeconfigPath()
	}
	return side
}

// scope is what the pivot of this run's cluster is about.
func (o Options) scope() pivot.Scope {
	return pivot.Scope{Namespace: o.Environment.ClusterNamespace(), Cluster: o.Environment.ClusterName()}
}
