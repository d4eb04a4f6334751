//go:build e2e

package e2e

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// unready returns why an object is not ready, or "". It reads the object's conditions here, and not through pkg/health:
// a fault in that package would otherwise hide itself from the tests.
func unready(o *unstructured.Unstructured) string {
	who := o.GetKind() + " " + o.GetName()
	if o.GetDeletionTimestamp() != nil {
		return who + " is being deleted"
	}
	if suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); suspended {
		return who + " is suspended"
	}
	if paused(o) {
		return who + " is paused"
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	ofObject, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	for _, wanted := range []string{"Ready", "Available"} {
		for _, each := range conditions {
			c, _ := each.(map[string]any)
			if c["type"] != wanted {
				continue
			}
			seen, _ := c["observedGeneration"].(int64)
			seen = max(seen, ofObject)
			switch {
			case c["status"] != "True":
				return fmt.Sprintf("%s is not %s: %v %v", who, wanted, c["reason"], c["message"])
			case seen != 0 && seen < o.GetGeneration():
				return fmt.Sprintf("%s is %s at generation %d, and has %d", who, wanted, seen, o.GetGeneration())
			}
			return ""
		}
	}
	return who + " has neither a condition Ready nor Available"
}

// paused reports whether Cluster API leaves the object as it is.
func paused(o *unstructured.Unstructured) bool {
	inSpec, _, _ := unstructured.NestedBool(o.Object, "spec", "paused")
	_, annotated := o.GetAnnotations()["cluster.x-k8s.io/paused"]
	return inSpec || annotated
}
