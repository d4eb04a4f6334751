package clusters

import (
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// candidate is a kubeconfig that may be the management cluster's.
type candidate struct {
	named      string // its location, for messages
	file       bool   // named is the path of a file
	kubeconfig []byte
	// proven reports whether it is known to be the management cluster's, by its origin or by comparison with one that
	// is.
	proven bool
	// truth is the proven candidate with which this one cannot be compared. Nil means that it was compared, or that
	// none is proven.
	truth *candidate
}

// candidates returns the kubeconfigs in the order in which they are tried. The first is the one that Cluster API keeps
// in the bootstrap cluster, then the user's file, then the file in the state folder. A file of another cluster than a
// proven one is an error.
func (w *World) candidates(fromBootstrap []byte) ([]candidate, error) {
	saved := w.savedPath()
	var all []candidate
	if fromBootstrap != nil {
		all = append(all, candidate{named: "the one in the bootstrap cluster", kubeconfig: fromBootstrap, proven: true})
	}
	for _, path := range w.kubeconfigPaths() {
		content, err := readKubeconfig(path)
		switch {
		case fault.CodeOf(err) == fault.Usage && path == saved:
			return nil, fault.Wrap(fmt.Errorf("the management cluster's kubeconfig: %w", err), fault.Usage,
				"Correct the file or remove it. "+RecoverHint(w.Argument))
		case fault.CodeOf(err) == fault.Usage:
			return nil, fmt.Errorf("the management cluster's kubeconfig: %w", err)
		case err != nil:
			return nil, fmt.Errorf("read the management cluster's kubeconfig: %w", err)
		case content == nil:
			continue
		}
		all = append(all, candidate{named: path, file: true, kubeconfig: content, proven: path == saved &&
			fromBootstrap == nil})
	}
	return proveAll(all)
}

// proveAll marks the candidates of the same cluster as a proven one. If a candidate cannot be compared, the cluster
// itself has to prove it.
func proveAll(all []candidate) ([]candidate, error) {
	var truth *candidate
	for i := range all {
		if all[i].proven {
			truth = &all[i]
			break
		}
	}
	for i := range all {
		c := &all[i]
		if truth == nil || c.proven {
			continue
		}
		switch kube.Compare(c.kubeconfig, truth.kubeconfig) {
		case kube.Same:
			c.proven = true
		case kube.Incomparable:
			c.truth = truth
		default:
			return nil, fault.New(fault.ClusterForeign, fmt.Sprintf("%s is the kubeconfig of another cluster than %s",
				c.named, truth.named),
				"Nothing is written over it. If its cluster is gone, remove the file; else give --kubeconfig another "+
					"file, or the cluster another name with --set cluster.name=NAME.")
		}
	}
	return all, nil
}

// prove reports whether a cluster that answers is the management cluster, by the kubeconfig that Cluster API keeps in
// it. It returns the connection to use: the kept credentials replace those of c if they work and do not expire sooner.
func (w *World) prove(ctx context.Context, c candidate, cluster *kube.Cluster, kept []byte) (*kube.Cluster, bool) {
	switch identity := kube.Compare(kept, c.kubeconfig); {
	case identity == kube.Other:
		return cluster, false
	case identity == kube.Incomparable && (c.truth != nil && !kube.SameCluster(kept, c.truth.kubeconfig) ||
		w.connectAt(ctx, cluster, kept) == nil):
		return cluster, false
	}
	if !kube.Newer(kept, cluster.Kubeconfig) {
		return cluster, true
	}
	if fresh := w.connectAt(ctx, cluster, kept); fresh != nil {
		return fresh, true
	}
	return cluster, true
}

// connectAt connects with another kubeconfig to the address at which a cluster has answered. It returns nil unless that
// kubeconfig's certificate authority verifies the server, and the server accepts its credentials.
func (w *World) connectAt(ctx context.Context, cluster *kube.Cluster, kubeconfig []byte) *kube.Cluster {
	at, err := kube.AtServerOf(kubeconfig, cluster.Kubeconfig)
	if err != nil {
		return nil
	}
	c, err := Connect(ManagementName, at)
	if err != nil {
		return nil
	}
	if _, err := capi.Clusters(ctx, c, w.Scope.Namespace); err != nil {
		return nil
	}
	return c
}

// incomparable returns the error of a candidate that answers, but cannot be proven because its kubeconfig cannot be
// compared.
func (c candidate) incomparable(host string) error {
	return fault.New(fault.Usage, fmt.Sprintf("the kubeconfig %s cannot be compared with %s: it does not trust "+
		"exactly the certificate authorities of that cluster, and what answers at %s does not prove to be it",
		c.named, c.truth.named, host),
		"Put the certificate authority of the cluster into it: kubectl config set-cluster NAME --embed-certs "+
			"--certificate-authority FILE --kubeconfig "+oneline.Shell(c.named)+
			". Else give --kubeconfig another file.")
}

// notBootstrap refuses a management cluster that is the bootstrap cluster: the user gave kubeconfigs of one cluster for
// both.
func notBootstrap(management ManagementSide, bootstrap BootstrapSide) ManagementSide {
	if bootstrap.Cluster == nil || management.Cluster == nil ||
		management.Cluster.Config.Host != bootstrap.Cluster.Config.Host &&
			!kube.SameCluster(management.Cluster.Kubeconfig, bootstrap.Cluster.Kubeconfig) {
		return management
	}
	return ManagementSide{State: ManagementForeign, Named: management.Named, Err: SameAsBootstrap(management.Named)}
}

// SameAsBootstrap returns the error for a management cluster's kubeconfig that is the bootstrap cluster's.
func SameAsBootstrap(named string) error {
	return fault.New(fault.Usage, fmt.Sprintf(
		"%s is the kubeconfig of the bootstrap cluster, and not of the management cluster", named),
		"Give --kubeconfig a file of its own: up writes the management cluster's kubeconfig there.")
}

// RecoverHint returns the hint to recover a management cluster's kubeconfig that is lost or has expired.
func RecoverHint(environment string) string {
	return "Read the kubeconfig in the cluster's machines again: cluster-init kubeconfig " + environment + " --recover."
}
