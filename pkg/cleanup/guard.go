package cleanup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// CheckManagement fails with fault.CleanupRefused when the management cluster that the kubeconfig names still answers and
// has a Cluster of its own name in its API: its controllers own what would be deleted, and would make it again. So it does
// when that cluster answers and does not tell. asked is whether somebody answered: no such file, or no answer, is no error.
func CheckManagement(ctx context.Context, kubeconfig string, t Target) (asked bool, err error) {
	content, err := os.ReadFile(kubeconfig)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the kubeconfig of the management cluster: %w", err)
	}
	cluster, err := kube.Connect("management", content, runtime.NewScheme())
	if err != nil {
		return false, nil // a file that a killed run left half-written names nobody who could answer
	}
	refused := func(reason string) error {
		return fault.New(fault.CleanupRefused, fmt.Sprintf("the management cluster %s still answers at %s and %s: nothing was deleted", t.Cluster, cluster.Config.Host, reason),
			"Delete what it owns with its own controllers first. If it is to go as it is, add --force "+t.Cluster+".")
	}
	if err := cluster.Reachable(ctx); err != nil {
		answer, is := errors.AsType[*apierrors.StatusError](err)
		if is && ctx.Err() == nil {
			return true, refused("it could not be asked whether it manages itself, as it is not ready, or does not take this kubeconfig: " + answer.Error())
		}
		return false, ctx.Err()
	}
	// In any namespace: containers and files here are known by the cluster's name only.
	clusters, err := capi.Clusters(ctx, cluster, "")
	if err != nil {
		return true, refused("it could not be asked whether it manages itself: " + err.Error())
	}
	for _, c := range clusters {
		if c.Name == t.Cluster {
			return true, refused("manages itself")
		}
	}
	return true, nil
}
