package readiness

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Idle returns why Deployments do not act: one does not exist, has no available replica, or its leader does not renew
// its Lease. Unlike Judge, it reports a Deployment that is still starting. The caller checks that the observation is
// complete: otherwise Idle returns nothing.
func Idle(o Observation, deployments ...health.Ref) []Finding {
	if !o.Complete() {
		return nil
	}
	v := newView(o)
	leases := judgeLeases(v)
	if v.At.IsZero() {
		withoutServerTime(leases)
	}
	var found []Finding
	for _, r := range deployments {
		u := v.objects[r]
		if u == nil {
			found = append(found, Finding{ID: "workload-missing", Object: r, Severity: Blocking, Certain: true,
				Cause: "Deployment " + r.Name + " does not exist"})
			continue
		}
		if number(u, 0, "status", "availableReplicas") == 0 {
			f, known := v.workload(u) // it knows who scaled the Deployment
			if !known {
				f = Finding{ID: "workload-unavailable", Severity: Blocking, Certain: true, Transient: true,
					Cause: fmt.Sprintf("Deployment %s has 0 of %d replicas available", r.Name,
						number(u, 1, "spec", "replicas"))}
			}
			f.Object = r
			found = append(found, f)
			continue
		}
		for _, f := range Blocks(leases) {
			if !f.Transient && v.leads(f.Object, r) {
				found = append(found, f)
			}
		}
	}
	return found
}

// leads reports whether a Lease is that of a Deployment's leader.
func (v *view) leads(lease, deployment health.Ref) bool {
	pods, name := v.candidates(v.objects[lease], text(v.objects[lease], "spec", "holderIdentity"))
	return name == deployment.Name && slices.ContainsFunc(pods, func(pod *unstructured.Unstructured) bool {
		return pod.GetNamespace() == deployment.Namespace
	})
}
