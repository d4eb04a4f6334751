package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// CheckManagement fails with fault.CleanupRefused when the management cluster that the kubeconfig names still answers and
// has its own Cluster in its API: its controllers own what would be deleted, and would make it again. No such file, or no
// answer, is no error.
func CheckManagement(ctx context.Context, kubeconfig string, t Target) error {
	content, err := os.ReadFile(kubeconfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the kubeconfig of the management cluster: %w", err)
	}
	cluster, err := kube.Connect("management", content, runtime.NewScheme())
	if err != nil {
		return nil // a file that a killed run left half-written names nobody who could answer
	}
	if cluster.Reachable(ctx) != nil {
		return ctx.Err()
	}
	refused := func(reason string) error {
		return fault.New(fault.CleanupRefused, fmt.Sprintf("the management cluster %s still answers at %s and %s: nothing was deleted", t.Cluster, cluster.Config.Host, reason),
			"Delete what it owns with its own controllers first. If it is to go as it is, add --force "+t.Cluster+".")
	}
	clusters, err := capi.Clusters(ctx, cluster, t.Namespace)
	if err != nil {
		return refused("it could not be asked whether it manages itself: " + err.Error())
	}
	for _, c := range clusters {
		if c.Name == t.Cluster {
			return refused("manages itself")
		}
	}
	return nil
}
