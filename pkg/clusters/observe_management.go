package clusters

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// SeeManagement observes the management cluster through the first kubeconfig that it answers to. fromBootstrap is the
// one that the bootstrap cluster holds; nil means none.
func (w *World) SeeManagement(ctx context.Context, fromBootstrap []byte) ManagementSide {
	all, err := w.candidates(fromBootstrap)
	if err != nil {
		return ManagementSide{State: unusable(err), Err: err}
	}
	if len(all) == 0 {
		return ManagementSide{State: ManagementAbsent}
	}
	silent := ManagementSide{State: ManagementSilent}
	for _, c := range all {
		cluster, err := w.reach(ctx, c.kubeconfig)
		if err == nil {
			return w.readManagement(ctx, c, cluster)
		}
		silent.Err = errors.Join(silent.Err, err)
		silent.Named, silent.Proven = c.named, silent.Proven || c.proven
		if c.file {
			silent.Files = append(silent.Files, c.named)
		}
	}
	return silent
}

// unusable returns the state of a side whose kubeconfig must not be used. A retry does not help if the kubeconfig is
// broken, refused or of another cluster.
func unusable(err error) ManagementState {
	switch fault.CodeOf(err) {
	case fault.ClusterForeign, fault.KubeconfigRefused, fault.Usage:
		return ManagementForeign
	}
	return ManagementSilent
}

// readManagement checks whether a cluster that answers is the management cluster, and reads what it holds.
func (w *World) readManagement(ctx context.Context, c candidate, cluster *kube.Cluster) ManagementSide {
	holds, elsewhere, err := w.hold(ctx, cluster)
	if err != nil {
		return ManagementSide{State: ManagementSilent, Named: c.named, Proven: c.proven,
			Err: fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err)}
	}
	if elsewhere != nil {
		return ManagementSide{State: ManagementForeign, Named: c.named, Err: w.otherNamespace("cluster of "+c.named,
			elsewhere)}
	}
	own := holds.Cluster(w.Cluster)
	// only what the cluster holds can prove it: another cluster may hold a Cluster of that name
	if own != nil {
		kept, found, err := w.managementKubeconfig(ctx, cluster)
		if err != nil {
			return ManagementSide{State: unusable(err), Named: c.named, Proven: c.proven,
				Err: fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err)}
		}
		if found {
			cluster, c.proven = w.prove(ctx, c, cluster, kept)
			if !c.proven && c.truth == nil && kube.Compare(kept, c.kubeconfig) == kube.Incomparable {
				c.truth = &candidate{named: "the one that Cluster API keeps in the cluster"}
			}
		}
	}
	installed, err := w.isInstalled(ctx, cluster)
	if err != nil {
		return ManagementSide{State: ManagementSilent, Named: c.named, Proven: c.proven,
			Err: fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err)}
	}
	// the values of an installed cluster are its only proof, and no file in the state folder names another one
	c.proven = c.proven || installed && c.truth == nil
	if !c.proven && c.truth != nil {
		return ManagementSide{State: ManagementForeign, Named: c.named, Err: c.incomparable(cluster.Config.Host)}
	}
	if !c.proven {
		return ManagementSide{State: ManagementForeign, Named: c.named, Err: fault.New(fault.ClusterForeign,
			fmt.Sprintf("the cluster that %s names answers at %s, and is not the management cluster %s/%s", c.named,
				cluster.Config.Host, w.Namespace, w.Cluster),
			"Nothing is installed in it and nothing is written over its kubeconfig. Give --kubeconfig another file, "+
				"or the cluster another name with --set cluster.name=NAME.")}
	}
	suspended, err := Suspension(cluster, w.Scope).Stands(ctx)
	down, downErr := w.takenDown(ctx, cluster, holds)
	if err := errors.Join(err, downErr); err != nil {
		return ManagementSide{State: ManagementSilent, Named: c.named, Proven: true,
			Err: fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err)}
	}
	return ManagementSide{State: managementHolding(own), Named: c.named, Proven: true, Cluster: cluster, Holds: holds,
		Installed: installed, Suspended: suspended, TeardownRequested: down}
}
