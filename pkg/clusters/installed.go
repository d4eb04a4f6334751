package clusters

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// ConnectExisting connects to the cluster of --kubeconfig, which exists without this program. It refuses a cluster that
// is not the one in the state folder: all other commands would take that one for it.
func (w *World) ConnectExisting(ctx context.Context) (*kube.Cluster, error) {
	kubeconfig, err := kube.ReadFile(w.KubeconfigPath)
	if err != nil {
		return nil, fmt.Errorf("read --kubeconfig: %w", err)
	}
	if kubeconfig == nil { // it would connect to a default cluster
		return nil, fault.New(fault.Usage, fmt.Sprintf("read --kubeconfig: %s is empty", w.KubeconfigPath),
			"Name a file that holds a kubeconfig.")
	}
	saved, err := readKubeconfig(w.savedPath())
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig in the state folder: %w", err)
	}
	if saved != nil && !kube.SameCluster(kubeconfig, saved) {
		return nil, fault.New(fault.ClusterForeign, fmt.Sprintf("%s is not the kubeconfig of the management cluster "+
			"%s: "+
			"%s names another one", w.KubeconfigPath, w.Cluster, w.savedPath()),
			"Give this cluster another name: --set cluster.name=NAME.")
	}
	return reachAt(ctx, kubeconfig)
}

// isInstalled reports whether `install` made a cluster this management cluster.
func (w *World) isInstalled(ctx context.Context, c *kube.Cluster) (bool, error) {
	of, err := rollout.Installed(ctx, c)
	return err == nil && of == owned.SuspendedFor(w.Namespace, w.Cluster), err
}
