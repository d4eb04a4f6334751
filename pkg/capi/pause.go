package capi

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Pause pauses a Cluster: its controllers leave everything as it is.
func Pause(ctx context.Context, c client.Client, cluster client.ObjectKey) error {
	object := &clusterv1.Cluster{}
	object.Namespace, object.Name = cluster.Namespace, cluster.Name
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"paused":true}}`))
	if err := c.Patch(ctx, object, patch); err != nil {
		return fmt.Errorf("pause Cluster %s: %w", cluster, err)
	}
	return nil
}
