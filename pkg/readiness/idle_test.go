package readiness

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// A Deployment acts if it has an available replica and its leader renews its Lease. What others do does not matter.
func TestIdle(t *testing.T) {
	const (
		name, namespace = "capi-controller-manager", "capi-system"
		capi            = "Deployment/" + namespace + "/" + name
		lease           = "Lease/" + namespace + "/controller-leader-election-capi"
	)
	controller := health.Ref{Group: "apps", Kind: "Deployment", Namespace: namespace, Name: name}
	long := "2026-01-01T11:50:00.000000Z"
	for name, tc := range map[string]struct {
		change func(*Observation)
		want   string // ID and object
	}{
		"it acts":    {func(*Observation) {}, ""},
		"it is gone": {func(o *Observation) { o.drop(t, capi) }, "workload-missing " + capi},
		"it has just stopped": {func(o *Observation) {
			set(t, o.find(t, capi), int64(0), "status", "availableReplicas")
			set(t, o.find(t, capi), noon.Add(-time.Second).Format(time.RFC3339), "metadata", "creationTimestamp")
		}, "workload-unavailable " + capi},
		"it was scaled down": {func(o *Observation) {
			set(t, o.find(t, capi), int64(0), "spec", "replicas")
			set(t, o.find(t, capi), int64(0), "status", "availableReplicas")
		}, "workload-scaled-down " + capi},
		"it has no leader": {func(o *Observation) { set(t, o.find(t, lease), long, "spec", "renewTime") },
			"lease-not-renewed " + lease},
		"without the server's time an age proves nothing": {func(o *Observation) {
			set(t, o.find(t, lease), long, "spec", "renewTime")
			o.At = time.Time{}
		}, ""},
		"another controller is gone": {func(o *Observation) {
			o.drop(t, "Deployment/flux-system/helm-controller")
			set(t, o.find(t, "Lease/flux-system/source-controller-leader-election"), long, "spec", "renewTime")
		}, ""},
		"Deployments were not listed": {func(o *Observation) {
			o.Kinds = slices.DeleteFunc(o.Kinds, func(k schema.GroupKind) bool { return k.Kind == "Deployment" })
			o.drop(t, capi)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy(t)
			tc.change(&o)
			var got []string
			for _, f := range Idle(o, controller) {
				got = append(got, f.ID+" "+f.Object.String())
				if f.Cause == "" || !strings.Contains(f.Cause, "capi-controller-manager") {
					t.Errorf("cause %q", f.Cause)
				}
			}
			if strings.Join(got, "\n") != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}
