package readiness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// judgeHeld finds suspended objects in Flux's namespace and paused objects of Cluster API, except those that a pivot, a
// restore or a `down` holds.
func judgeHeld(v *view) []Finding {
	var found []Finding
	for _, u := range v.Objects {
		r := health.RefOf(u)
		a := u.GetAnnotations()
		if a[owned.SuspendedAnnotation] != "" || a[owned.PivotAnnotation] != "" || a[owned.DownAnnotation] != "" ||
			a[clusterv1.PausedAnnotation] == owned.RestoringMark || u.GetDeletionTimestamp() != nil {
			continue
		}
		switch {
		case strings.HasSuffix(r.Group, ".toolkit.fluxcd.io") && r.Namespace == flux.Namespace &&
			health.OfAny(u).Status == health.Suspended:
			found = append(found, Finding{ID: "suspended", Object: r, Severity: Blocking, Certain: true,
				Cause: fmt.Sprintf("%s is suspended, so Flux does not apply its changes", r),
				Remedy: fmt.Sprintf("Resume it: kubectl -n %s patch %s.%s %s --type merge -p "+
					"'{\"spec\":{\"suspend\":false}}'", r.Namespace, strings.ToLower(r.Kind), r.Group, r.Name)})
		case strings.HasSuffix(r.Group, "cluster.x-k8s.io") && r.Kind != "Cluster" &&
			!strings.HasSuffix(r.Kind, "Template") && health.Paused(u):
			found = append(found, Finding{ID: "paused", Object: r, Severity: Blocking, Certain: true,
				Cause: fmt.Sprintf("%s is paused, so no controller of Cluster API reconciles it", r),
				Remedy: fmt.Sprintf("Resume it: kubectl -n %s annotate %s.%s %s cluster.x-k8s.io/paused-", r.Namespace,
					strings.ToLower(r.Kind), r.Group, r.Name)})
		case r.Kind == "Cluster" && r.Group == "cluster.x-k8s.io" && health.Paused(u):
			found = append(found, Finding{ID: "paused", Object: r, Severity: Blocking, Certain: true,
				Cause: fmt.Sprintf("%s is paused, so Cluster API does not reconcile it", r),
				Remedy: fmt.Sprintf("Resume it: kubectl -n %s patch cluster.cluster.x-k8s.io %s --type merge -p "+
					"'{\"spec\":{\"paused\":false}}'", r.Namespace, r.Name)})
		}
	}
	return found
}

// reconcileTime is the time within which a controller observes a changed spec. Its watch reports the change at once.
const reconcileTime = 2 * time.Minute

// specSeen returns the generation of the spec that the controller of an object has seen; 0 means that it says none.
// Cluster API writes that of the status only after a reconciliation without errors, and that of these conditions
// always.
func specSeen(u *unstructured.Unstructured) int64 {
	seen := number(u, 0, "status", "observedGeneration")
	if seen == 0 {
		return 0
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if kind, _ := condition["type"].(string); slices.Contains([]string{"Ready", "Available", "Paused"}, kind) {
			of, _ := condition["observedGeneration"].(int64)
			seen = max(seen, of)
		}
	}
	return seen
}

// judgeGenerations finds objects whose controller has not observed their latest spec.
func judgeGenerations(v *view) []Finding {
	var found []Finding
	for _, u := range v.Objects {
		r := health.RefOf(u)
		ours := v.installed[r.Namespace] && r.Group == "apps" || strings.HasSuffix(r.Group, ".toolkit.fluxcd.io") ||
			strings.HasSuffix(r.Group, "cluster.x-k8s.io")
		seen := specSeen(u)
		w := v.writes[r]
		if !ours || seen == 0 || seen >= u.GetGeneration() || u.GetDeletionTimestamp() != nil || w.At.IsZero() ||
			v.age(w.At) < reconcileTime || health.Paused(u) {
			continue
		}
		if suspended := health.OfAny(u).Status == health.Suspended; suspended ||
			strings.HasSuffix(r.Group, ".toolkit.fluxcd.io") && health.ConditionOf(u, "Ready").Status != "True" {
			continue // its own status reports that it is not finished
		}
		found = append(found, Finding{ID: "spec-not-seen", Object: r, Severity: Blocking, Certain: true,
			Cause: fmt.Sprintf("the controller of %s has not observed its latest spec, which is %s old: its "+
				"status is older", r, v.age(w.At).Round(time.Second)),
			Message: fmt.Sprintf("generation %d, observed %d, last written by %s", u.GetGeneration(), seen, w.By),
			Remedy:  "Check that its controller runs, is the leader, and has permission to read it."})
	}
	return found
}
