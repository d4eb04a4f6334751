package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// candidate is a kubeconfig that could be the management cluster's.
type candidate struct {
	named      string // where it is, for people
	file       bool   // it is a file of that path
	kubeconfig []byte
	// proven is whether it is the management cluster's for sure: Cluster API made it, or an earlier run saved it.
	proven bool
}

// candidates are, in the order in which they are tried: what Cluster API keeps in the bootstrap cluster, the file that the user wants to
// have, and the one in the state folder. A file that is of another cluster than a proven one is an error.
func (w *World) candidates(fromBootstrap []byte) ([]candidate, error) {
	saved := filepath.Join(w.StateFolder, "kubeconfig")
	var all []candidate
	if fromBootstrap != nil {
		all = append(all, candidate{named: "the one in the bootstrap cluster", kubeconfig: fromBootstrap, proven: true})
	}
	for _, path := range w.kubeconfigPaths() {
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(content) == 0 {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the management cluster's kubeconfig: %w", err)
		}
		all = append(all, candidate{named: path, file: true, kubeconfig: content, proven: path == saved && fromBootstrap == nil})
	}
	return proveAll(all)
}

// proveAll marks the candidates that are of the same cluster as a proven one.
func proveAll(all []candidate) ([]candidate, error) {
	var truth *candidate
	for i := range all {
		if all[i].proven {
			truth = &all[i]
			break
		}
	}
	for i := range all {
		switch c := &all[i]; {
		case truth == nil || c.proven:
		case kube.SameCluster(c.kubeconfig, truth.kubeconfig):
			c.proven = true
		default:
			return nil, fault.New(fault.ClusterForeign, fmt.Sprintf("%s is the kubeconfig of another cluster than %s", c.named, truth.named),
				"Nothing is written over it. If its cluster is gone, remove the file; else give --kubeconfig another file, or the cluster another name with --set cluster.name=NAME.")
		}
	}
	return all, nil
}

// SeeManagement looks at the management cluster, through whichever kubeconfig it answers to. fromBootstrap is the one that the bootstrap
// cluster holds; nil: none.
func (w *World) SeeManagement(ctx context.Context, fromBootstrap []byte) ManagementSide {
	all, err := w.candidates(fromBootstrap)
	if err != nil {
		state := ManagementSilent
		if fault.CodeOf(err) == fault.ClusterForeign {
			state = ManagementForeign
		}
		return ManagementSide{State: state, Err: err}
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

// readManagement asks a cluster that answers whether it is ours, and what it holds.
func (w *World) readManagement(ctx context.Context, c candidate, cluster *kube.Cluster) ManagementSide {
	holds, elsewhere, err := w.hold(ctx, cluster)
	if err != nil {
		return ManagementSide{State: ManagementSilent, Named: c.named, Proven: c.proven, Err: fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err)}
	}
	if elsewhere != nil {
		return ManagementSide{State: ManagementForeign, Named: c.named, Err: w.otherNamespace("cluster of "+c.named, elsewhere)}
	}
	own := holds.Cluster(w.Environment.ClusterName())
	if own != nil { // that it is its own is proven by what it holds, or not at all: others may hold a Cluster of that name
		kept, found, err := w.managementKubeconfig(ctx, cluster)
		if err != nil {
			return ManagementSide{State: ManagementSilent, Named: c.named, Proven: c.proven, Err: fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err)}
		}
		if found {
			c.proven = kube.SameCluster(kept, c.kubeconfig)
		}
	}
	if !c.proven {
		return ManagementSide{State: ManagementForeign, Named: c.named, Err: fault.New(fault.ClusterForeign,
			fmt.Sprintf("the cluster that %s names answers at %s, and is not the management cluster %s/%s", c.named, cluster.Config.Host, w.Environment.ClusterNamespace(), w.Environment.ClusterName()),
			"Nothing is installed in it and nothing is written over its kubeconfig. Give --kubeconfig another file, or the cluster another name with --set cluster.name=NAME.")}
	}
	suspended, err := Suspension(cluster, w.Scope()).Stands(ctx)
	down, downErr := w.takenDown(ctx, cluster, holds)
	if err := errors.Join(err, downErr); err != nil {
		return ManagementSide{State: ManagementSilent, Named: c.named, Proven: true, Err: fmt.Errorf("it answers at %s: %w", cluster.Config.Host, err)}
	}
	return ManagementSide{State: managementHolding(own), Named: c.named, Proven: true, Cluster: cluster, Holds: holds, Suspended: suspended, Down: down}
}
