package diagnose

import (
	"strings"
	"testing"
)

// lostMachine is a worker whose container ended, with its health check.
const lostMachine = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: demo, generation: 1}
status: {observedGeneration: 1, conditions: [{type: Available, status: "False", reason: NotAvailable, message: "workers"}]}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: w-1, labels: {pool: w}, ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: demo, uid: a}]}
spec: {clusterName: demo, infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachine, name: w-1}}
status:
  nodeRef: {name: w-1}
  conditions: [{type: Ready, status: "False", reason: NotReady, message: "not ready"}, {type: NodeReady, status: Unknown, reason: NodeReadyUnknown, message: "silent"}]
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachine
metadata: {name: w-1, ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, name: w-1, uid: a}]}
status: {conditions: [{type: Ready, status: "False", reason: NotRunning, message: "no"}, {type: ContainerProvisioned, status: "False", reason: NotRunning, message: "Container w-1 is not running anymore"}]}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: workers}
spec:
  clusterName: demo
  selector: {matchLabels: {pool: w}}
  checks:
    unhealthyNodeConditions: [{type: Ready, status: Unknown, timeoutSeconds: 300}]
    unhealthyMachineConditions: [{type: InfrastructureReady, status: "False", timeoutSeconds: 1200}]
status: {conditions: [{type: RemediationAllowed, status: "True", reason: RemediationAllowed}]}
`

// What a health check will replace goes away by itself: `up` does not give up because of it.
func TestAMachineThatIsReplacedIsNoPermanentCause(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to string // replaced in the world
		lasts    bool
	}{
		"its health check replaces it":       {},
		"the health check is new":            {from: "status: {conditions: [{type: RemediationAllowed", to: "ignored: {conditions: [{type: RemediationAllowed"},
		"no health check is about it":        {from: "matchLabels: {pool: w}", to: "matchLabels: {pool: x}", lasts: true},
		"it is another cluster's":            {from: "clusterName: demo\n", to: "clusterName: other\n", lasts: true},
		"too many are unhealthy":             {from: `RemediationAllowed, status: "True"`, to: `RemediationAllowed, status: "False"`, lasts: true},
		"neither it nor its node has failed": {from: "NodeReady, status: Unknown, reason: NodeReadyUnknown", to: `NodeReady, status: "True", reason: NodeReady`, lasts: true},
		"its node was not asked":             {from: "reason: NodeReadyUnknown", to: "reason: ConnectionDown", lasts: true},
		"its node was deleted":               {from: "NodeReady, status: Unknown, reason: NodeReadyUnknown", to: `NodeReady, status: "False", reason: NodeDeleted`},
		"its server is not ready":            {from: "NodeReady, status: Unknown, reason: NodeReadyUnknown", to: `InfrastructureReady, status: "False", reason: NotReady`},
		"the health check is paused":         {from: "metadata: {name: workers}", to: `metadata: {name: workers, annotations: {cluster.x-k8s.io/paused: ""}}`, lasts: true},
		"it was never a node":                {from: "nodeRef: {name: w-1}", to: "phase: Provisioning", lasts: true},
		"a person exempts it":                {from: "labels: {pool: w}", to: `labels: {pool: w}, annotations: {cluster.x-k8s.io/skip-remediation: ""}`, lasts: true},
		"its owner does not replace it":      {from: `conditions: [{type: Ready, status: "False", reason: NotReady`, to: `conditions: [{type: HealthCheckSucceeded, status: "False", reason: UnhealthyNode, message: m}, {type: OwnerRemediated, status: "False", reason: Deferred, message: "etcd"}, {type: Ready, status: "False", reason: NotReady`, lasts: true},
		"the pool's selector is not valid":   {from: "matchLabels: {pool: w}", to: "matchLabels: {pool: [w]}", lasts: true},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(lostMachine, tc.from) {
				t.Fatal("the world does not have", tc.from)
			}
			world := lostMachine
			if tc.from != "" {
				world = strings.Replace(lostMachine, tc.from, tc.to, 1)
			}
			findings, waiting := examine(t, world)
			if len(findings) == 0 || findings[0].Rule != "machine-container-gone" || findings[0].Lasting() != tc.lasts {
				t.Fatalf("%+v, %+v", findings, waiting)
			}
			const says = "the health check workers replaces the machine w-1"
			if strings.Contains(findings[0].Remedy, says) == tc.lasts {
				t.Errorf("remedy %q", findings[0].Remedy)
			}
		})
	}
}
