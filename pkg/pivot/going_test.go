package pivot

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// A move marks what it is about to delete; what is being deleted already counts alike.
func TestWhatIsBeingDeleted(t *testing.T) {
	for name, tc := range map[string]struct {
		metadata map[string]any
		want     bool
	}{
		"nothing of it": {map[string]any{"annotations": map[string]any{"note": ""}}, false},
		"marked": {map[string]any{"annotations": map[string]any{
			"clusterctl.cluster.x-k8s.io/delete-for-move": ""}}, true},
		"being deleted": {map[string]any{"deletionTimestamp": "2026-11-27T10:00:00Z"}, true},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{"metadata": tc.metadata}}
		if got := clusters.BeingDeleted(u); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
