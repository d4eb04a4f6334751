package diagnose

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// A set of resources that is not applied says so by no condition that makes it unready, and nothing waits for it.
func TestAResourceSetThatIsNotAppliedIsNamed(t *testing.T) {
	const sets = `
{apiVersion: addons.cluster.x-k8s.io/v1beta2, kind: ClusterResourceSet, metadata: {namespace: management, name: cni},
   status: {conditions: [{type: ResourcesApplied, status: "False", reason: InternalError, message: Please check controller logs for errors}]}}
---
{apiVersion: addons.cluster.x-k8s.io/v1beta2, kind: ClusterResourceSet, metadata: {namespace: management, name: csi},
   status: {conditions: [{type: ResourcesApplied, status: "True", reason: Applied}]}}
`
	s := NewSnapshot(readiness.Observation{Cluster: "management", Objects: decode(t, sets)})
	findings, waiting := s.examine(s.roots(side{scope: clusters.Scope{Namespace: "management", Cluster: "demo"}}),
		readRules(t))
	if len(findings) != 1 || len(waiting) > 0 || findings[0].Rule != "resource-set-incomplete" ||
		findings[0].Object != "ClusterResourceSet/management/cni" {
		t.Errorf("%+v, %+v", findings, waiting)
	}
}
