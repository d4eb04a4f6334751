package down

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// mark records on the management cluster's own Cluster, if c holds it, that the Cluster is taken down. The record moves
// with the Cluster.
func mark(ctx context.Context, c *kube.Cluster, scope clusters.Scope) error {
	own, err := clusters.Own(ctx, c, scope)
	if err != nil {
		return err
	}
	if own == nil || own.Annotations[owned.DownAnnotation] != "" {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, owned.DownAnnotation,
		owned.SuspendedFor(scope.Namespace, scope.Cluster))
	if err := c.Patch(ctx, unstructuredOf(own.Object),
		client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		return fault.Retryable(fmt.Errorf("note on %s that it is taken down: %w", own, err), fault.ClusterUnreachable,
			"Nothing was deleted. Run the same command again.")
	}
	return nil
}

func unstructuredOf(o capi.Object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(o.APIVersion)
	u.SetKind(o.Kind)
	u.SetNamespace(o.Namespace)
	u.SetName(o.Name)
	return u
}
