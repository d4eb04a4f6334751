package clusters

import (
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// Side returns a cluster as the pivot uses it, with the path of a kubeconfig for the commands in hints.
func (w *World) Side(c *kube.Cluster) Side {
	if c == nil {
		return Side{}
	}
	side := Side{Client: c.Client, Config: c.Config}
	switch {
	case c.Name == ManagementName:
		side.Kubeconfig = w.KubeconfigPath
	case w.BootstrapKubeconfig != "":
		side.Kubeconfig = w.BootstrapKubeconfig
	default:
		side.Kubeconfig = w.BootstrapKubeconfigPath()
	}
	return side
}

// Suspension returns the suspension, in a cluster, of what would restore the objects that a move takes away.
func Suspension(c *kube.Cluster, s Scope) rollout.Suspension {
	return rollout.Suspension{Cluster: c, Of: owned.SuspendedFor(s.Namespace, s.Cluster)}
}
