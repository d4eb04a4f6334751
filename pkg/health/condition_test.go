package health_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// A condition counts for the latest spec only: its controller must have seen that. One that does not say what it has
// seen is believed.
func TestAConditionIsOfTheLatestSpec(t *testing.T) {
	for name, tc := range map[string]struct {
		generation, seen, statusSeen int64 // 0: it does not say
		typed, read                  bool  // whether it is true, as ConditionFrom and as ConditionOf have it
	}{
		"it has seen the latest":                   {generation: 3, seen: 3, typed: true, read: true},
		"it has seen an older one":                 {generation: 3, seen: 2},
		"it has seen one that came since":          {generation: 3, seen: 4, typed: true, read: true},
		"it does not say":                          {generation: 3, typed: true, read: true},
		"its status has seen the latest":           {generation: 3, statusSeen: 3, typed: true, read: true},
		"its status has seen an older one":         {generation: 3, statusSeen: 2, typed: true},
		"it has seen the latest, not its status":   {generation: 3, seen: 3, statusSeen: 2, typed: true, read: true},
		"it has seen an older one than its status": {generation: 3, seen: 2, statusSeen: 3},
	} {
		condition := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, ObservedGeneration: tc.seen}
		if c := health.ConditionFrom([]metav1.Condition{condition}, "Ready", tc.generation); c.True() != tc.typed ||
			c.Status != corev1.ConditionTrue {
			t.Errorf("%s: %+v", name, c)
		}
		read := map[string]any{"type": "Ready", "status": "True"}
		status := map[string]any{"conditions": []any{read}}
		if tc.seen > 0 {
			read["observedGeneration"] = tc.seen
		}
		if tc.statusSeen > 0 {
			status["observedGeneration"] = tc.statusSeen
		}
		u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
		u.SetGeneration(tc.generation)
		if c := health.ConditionOf(u, "Ready"); c.True() != tc.read {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
