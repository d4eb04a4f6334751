package pivot

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// RolledOut looks, from the API of a management cluster, for machines that are still to be made, replaced or deleted. Machines that are replaced one after the other are all ready between two
// of them, so SelfManaged alone does not see that there is more to come.
func RolledOut(ctx context.Context, target client.Client, scope Scope) ([]Unmet, error) {
	clusters, err := capi.Clusters(ctx, target, scope.Namespace)
	if err != nil {
		return nil, fmt.Errorf("see whether all machines are as they should be: %w", err)
	}
	var unmet []Unmet
	if own := (Holding{Clusters: clusters}).Cluster(scope.Cluster); own != nil {
		for _, replicas := range own.Replicas {
			if _, message := replicas.Lack(); message != "" {
				unmet = append(unmet, Unmet{Aspect: AspectMachines, Object: own.String(), Message: message, Waiting: true})
			}
		}
	}
	return unmet, nil
}
