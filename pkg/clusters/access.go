package clusters

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Access finds the management cluster and returns a connection to it, through an address at which it answers from here.
// It fails with fault.ClusterUnreachable when none answers, and with fault.ClusterForeign when another cluster answers.
func (w *World) Access(ctx context.Context) (*kube.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	_, _ = w.AskEngine(ctx) // sets the host of published ports; an error counts only where a port is needed
	// The kubeconfig in the bootstrap cluster is one more proof. If that cluster does not answer, Access still checks
	// the management cluster itself.
	side := w.SeeManagement(ctx, w.seeBootstrap(ctx).Kubeconfig)
	switch {
	case side.Cluster != nil:
		return side.Cluster, nil
	case side.State == ManagementAbsent:
		return nil, fault.New(fault.ClusterUnreachable, "no kubeconfig of a management cluster of "+
			w.EnvironmentName+" is found here",
			"It is looked for in "+strings.Join(w.kubeconfigPaths(), " and in ")+
				", and in the bootstrap cluster. Name another file with --kubeconfig. "+
				RecoverHint(w.Argument)+" If there is no such cluster, cluster-init up makes it.")
	case side.State == ManagementForeign:
		return nil, side.Err
	}
	return nil, fault.Retryable(fmt.Errorf("the management cluster that %s names does not answer: %w", side.Named,
		side.Err), fault.ClusterUnreachable,
		"Nothing is printed that was not seen to work. cluster-init diagnose "+w.Argument+" says more. "+
			w.ifEnded(side.Err))
}

// ifEnded returns the hint to get other credentials if err says that these are refused.
func (w *World) ifEnded(err error) string {
	if apierrors.IsUnauthorized(err) {
		return RecoverHint(w.Argument)
	}
	return ""
}

// WorkloadAccess returns the kubeconfig that Cluster API keeps for a cluster that the management cluster manages. name
// is NAMESPACE/NAME, or NAME if only one cluster has that name.
func WorkloadAccess(ctx context.Context, management *kube.Cluster, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, observationBound)
	defer cancel()
	all, err := capi.Clusters(ctx, management, "")
	if err != nil {
		return nil, fault.Retryable(fmt.Errorf("list the clusters that the management cluster manages: %w", err),
			fault.ClusterUnreachable, "")
	}
	var known []string
	var found []capi.Cluster
	for _, c := range all {
		known = append(known, c.Namespace+"/"+c.Name)
		if name == c.Name || name == c.Namespace+"/"+c.Name {
			found = append(found, c)
		}
	}
	slices.Sort(known)
	switch {
	case len(found) == 0:
		return nil, fault.New(fault.Usage, "the management cluster manages no cluster "+name, "It manages: "+
			strings.Join(known, ", ")+".")
	case len(found) > 1:
		return nil, fault.New(fault.Usage, fmt.Sprintf("the management cluster manages %d clusters %s", len(found),
			name), "Say which one, as NAMESPACE/NAME. It manages: "+strings.Join(known, ", ")+".")
	}
	kubeconfig, is, err := capi.Kubeconfig(ctx, management, client.ObjectKey{Namespace: found[0].Namespace,
		Name: found[0].Name})
	switch {
	case err != nil:
		return nil, fault.Retryable(fmt.Errorf("read the kubeconfig of Cluster %s/%s: %w", found[0].Namespace,
			found[0].Name, err), fault.ClusterUnreachable, "")
	case !is:
		return nil, fault.Retryable(fmt.Errorf("the Cluster %s/%s has no kubeconfig yet", found[0].Namespace,
			found[0].Name), fault.ClusterUnreachable,
			"Cluster API writes it when the control plane has an address. Run the same command again.")
	}
	return kubeconfig, nil
}
