package pivot

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// checkDetach refuses objects of the OpenStack Resource Controller whose deletion deletes something in the cloud.
// clusterctl cannot pause that controller: it sees the deletion at the source before clusterctl has removed the
// finalizers.
func checkDetach(_ context.Context, v *view) ([]*Refusal, error) {
	var refusals []*Refusal
	for _, o := range v.moves {
		if !o.OfResourceController() || o.Shared {
			continue
		}
		u, _ := v.source.Get(o)
		policy, _, _ := unstructured.NestedString(u.Object, "spec", "managementPolicy")
		onDelete, _, _ := unstructured.NestedString(u.Object, "spec", "managedOptions", "onDelete")
		if policy == "unmanaged" || onDelete == "detach" {
			continue
		}
		refusals = append(refusals, &Refusal{
			Rule: RuleDetach, Object: o.String(),
			Reason: "is managed, and has no managedOptions.onDelete: detach: when a move deletes it at the source, " +
				"what it stands for in OpenStack may be deleted too",
			Remedy: "In its definition, and here: " + v.onObject("patch", o) +
				` --type merge -p '{"spec":{"managedOptions":{"onDelete":"detach"}}}'`,
		})
	}
	return refusals, nil
}
