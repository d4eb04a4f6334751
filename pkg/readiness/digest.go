package readiness

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// digest keeps who last wrote those objects whose writers a judge needs. It drops all managed fields, which no judge
// reads.
func (o *observing) digest() {
	for _, u := range o.seen.Objects {
		r := health.RefOf(u)
		behind := number(u, u.GetGeneration(), "status", "observedGeneration") < u.GetGeneration()
		if isWorkload(u) || behind || r.Kind == "Lease" || r.Group == "" &&
			(r.Kind == "ConfigMap" || r.Kind == "Secret") {
			if w := writeOf(u); !w.Clock.IsZero() {
				o.seen.Writes = append(o.seen.Writes, w)
			}
		}
		u.SetManagedFields(nil)
	}
}

// writeOf reads from an object's managed fields who wrote it last.
func writeOf(u *unstructured.Unstructured) Write {
	w := Write{Object: health.RefOf(u)}
	for _, entry := range u.GetManagedFields() {
		if entry.Time == nil {
			continue
		}
		if entry.Time.After(w.Clock) {
			w.Clock = entry.Time.Time
		}
		if entry.Subresource != "status" && entry.Time.After(w.At) {
			w.By, w.At = entry.Manager, entry.Time.Time
		}
		if entry.Subresource != "status" && setsReplicas(entry) {
			w.ReplicasBy = entry.Manager
		}
	}
	return w
}

func setsReplicas(entry metav1.ManagedFieldsEntry) bool {
	return entry.FieldsV1 != nil && bytes.Contains(entry.FieldsV1.GetRawBytes(), []byte(`"f:replicas"`))
}
