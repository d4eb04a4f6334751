package rollout

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// requestReconcile makes the controller of an object reconcile it now: it sets an annotation and removes it again.
func requestReconcile(ctx context.Context, c *kube.Cluster, o *unstructured.Unstructured) error {
	for _, value := range []string{`"now"`, "null"} {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, owned.WokenAnnotation, value)
		if err := c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			return fmt.Errorf("request a reconciliation of %s %s in the %s cluster: %w", o.GetKind(),
				client.ObjectKeyFromObject(o), c.Name, err)
		}
	}
	return nil
}
