package pivot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// checkExtensions refuses ClusterClasses whose external patches the target could not compute. Its controllers call an
// extension for them. An ExtensionConfig names the extension, belongs to the whole cluster and does not move.
func checkExtensions(ctx context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	var onTarget map[string][]string
	for _, o := range v.moves {
		if o.Kind != clusterv1.ClusterClassKind || o.Key().Group != clusterv1.GroupVersion.Group {
			continue
		}
		u, _ := v.source.Get(o)
		for _, handler := range capi.ExtensionsOf(u) {
			if onTarget == nil {
				var err error
				if onTarget, err = capi.Extensions(ctx, v.targetSide.Client); err != nil {
					return nil, fmt.Errorf("target: %w", err)
				}
			}
			config := handler[strings.LastIndex(handler, ".")+1:]
			handlers, exists := onTarget[config]
			reason := ""
			switch {
			case !exists:
				reason = "which the target does not have"
			case !slices.Contains(handlers, handler):
				reason = "which has not discovered it on the target"
			default:
				continue
			}
			refusals = append(refusals, &Refusal{Rule: RuleExtensions, Object: o.String(),
				Reason: fmt.Sprintf("its patches need the extension %s of ExtensionConfig %s, %s", handler, config,
					reason),
				Remedy: "Install the extension and its ExtensionConfig on the target, and wait until it is discovered: " +
					"kubectl" +
					option("--kubeconfig", v.targetSide.Kubeconfig) + " get extensionconfigs.runtime.cluster.x-k8s.io"})
		}
	}
	return refusals, nil
}
