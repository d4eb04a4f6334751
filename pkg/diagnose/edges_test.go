package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// webhook is a Deployment whose Pod cannot start before a Certificate was issued, whose issuer does not exist.
const webhook = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: webhook, namespace: kube-system, generation: 1}
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: webhook-x, namespace: kube-system, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: webhook, uid: a}]}
spec: {volumes: [{name: cert, secret: {secretName: webhook-cert}}, {name: more, secret: {secretName: not-needed, optional: true}}]}
status:
  phase: Pending
  conditions: [{type: Ready, status: "False", reason: ContainersNotReady, message: "containers with unready status: [webhook]"}]
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: serving, namespace: kube-system}
spec: {secretName: webhook-cert, issuerRef: {name: nope}}
status: {conditions: [{type: Ready, status: "False", reason: DoesNotExist, message: "Issuing certificate as Secret does not exist"}]}
`

func TestACertificateIsWhatItsSecretWaitsFor(t *testing.T) {
	listed := readiness.Observation{Cluster: "bootstrap", Objects: decode(t, webhook),
		Kinds: []schema.GroupKind{{Kind: "Secret"}, {Group: "cert-manager.io", Kind: "Issuer"}}}
	s := NewSnapshot(listed)
	findings, waiting := s.examine(s.roots(side{}), readRules(t))
	want := []string{"missing-issuer Issuer/kube-system/nope: Deployment/kube-system/webhook > " +
		"Pod/kube-system/webhook-x > Secret/kube-system/webhook-cert > Certificate/kube-system/serving > " +
		"Issuer/kube-system/nope"}
	if diff := cmp.Diff(want, inShort(findings)); diff != "" || len(waiting) > 0 {
		t.Error(diff, waiting)
	}
	listed.Kinds = nil // then it is not known whether the Secret exists
	if findings, _ := NewSnapshot(listed).examine(s.roots(side{}), readRules(t)); len(findings) > 0 {
		t.Error(inShort(findings))
	}
}

// While Flux tries again, why it failed stands in its last event only.
func TestWhatIsTriedAgainHasFailedBefore(t *testing.T) {
	const retried = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system, generation: 2}
status:
  observedGeneration: 2
  conditions: [{type: Ready, status: Unknown, reason: Progressing, message: "Reconciliation in progress"}]
  history: [{lastReconciledStatus: HealthCheckFailed}, {lastReconciledStatus: ReconciliationSucceeded}]
`
	const said = `
apiVersion: v1
kind: Event
metadata: {name: old, namespace: flux-system}
involvedObject: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, namespace: flux-system, name: a}
reason: BuildFailed
message: kustomize build failed
lastTimestamp: "2026-11-25T10:00:00Z"
---
apiVersion: v1
kind: Event
metadata: {name: new, namespace: flux-system}
involvedObject: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, namespace: flux-system, name: a}
reason: ReconciliationFailed
message: 'ConfigMap/nope/a not found: namespaces "nope" not found'
lastTimestamp: "2026-11-25T10:05:00Z"
`
	lost := []string{"flux-namespace-missing Kustomization/flux-system/a: Kustomization/flux-system/a"}
	for name, tc := range map[string]struct {
		object string
		want   []string
	}{
		"what failed": {retried, lost},
		"what never went well": {strings.Replace(
			strings.Replace(retried, "observedGeneration: 2", "observedGeneration: -1", 1), "HealthCheckFailed", "", 1),
			lost},
		"what went well since": {strings.Replace(retried, "HealthCheckFailed", "ReconciliationSucceeded", 1),
			nil},
		"what waits for something else": {strings.Replace(retried, "reason: Progressing,",
			"reason: DependencyNotReady,", 1), nil},
	} {
		s := NewSnapshot(readiness.Observation{Cluster: "bootstrap", Objects: decode(t, tc.object),
			Events: decode(t, said)})
		findings, _ := s.examine(s.roots(side{}), readRules(t))
		if diff := cmp.Diff(tc.want, inShort(findings)); diff != "" {
			t.Error(name, diff)
		}
	}
}

// A source that has not fetched yet is no fault, of it or of what reads it.
func TestASourceThatIsStillFetchedIsNoFault(t *testing.T) {
	findings,
		waiting := examine(
		t,
		`{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a, namespace: flux-system},
  status: {conditions: [{type: Ready, status: "False", reason: ArtifactFailed, message: "Source artifact not found, retrying in 2s"}]}}`)
	if len(findings) > 0 || len(waiting) != 1 {
		t.Error(inShort(findings), waiting)
	}
}

// What an object says because of a cause below it is no second cause, although something else below it has none.
func TestWhatFollowsFromACauseIsNone(t *testing.T) {
	const cluster = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: a, namespace: default}
spec:
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: a}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: a}
status: {conditions: [{type: Available, status: "False", reason: NotAvailable, message: no}, {type: RemoteConnectionProbe, status: "False", reason: ProbeFailed, message: Remote connection probe failed}]}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: a, namespace: default}
status: {conditions: [{type: Available, status: "False", reason: NotAvailable, message: no},
  {type: MachinesCreated, status: "False", reason: InfrastructureTemplateCloningFailed, message: "devmachinetemplates nope not found"},
  {type: EtcdClusterHealthy, status: Unknown, reason: InspectionFailed, message: Waiting for Cluster control plane to be initialized}]}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevCluster
metadata: {name: a, namespace: default}
status: {conditions: [{type: Ready, status: "False", reason: NotReady, message: unknown}]}
`
	s := NewSnapshot(readiness.Observation{Cluster: "bootstrap", Objects: decode(t, cluster)})
	findings, waiting := s.examine(s.roots(side{scope: clusters.Scope{Namespace: "default"}}), readRules(t))
	want := []string{"control-plane-machines KubeadmControlPlane/default/a: Cluster/default/a > " +
		"KubeadmControlPlane/default/a"}
	if diff := cmp.Diff(want, inShort(findings)); diff != "" || len(waiting) != 1 ||
		waiting[0].Object != "DevCluster/default/a" {
		t.Error(diff, inShort(waiting))
	}
}

// What a pivot pauses and suspends goes away by itself, unless no run pivots any more. What a person does does not.
func TestWhatAPivotHolds(t *testing.T) {
	const suspended = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: cluster, " +
		"namespace: flux-system, annotations: {NOTE: default/a}}, spec: {suspend: true}}"
	const paused = "{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a, annotations: {NOTE: " +
		"default/a}}, spec: {paused: true}, status: {conditions: [{type: Available, status: Unknown, message: no}]}}"
	for _, tc := range []struct{ object, annotation, want string }{
		{suspended, owned.SuspendedAnnotation, "pivot-holds"}, {suspended, "example.org/note", "suspended"},
		{paused, owned.PivotAnnotation, "pivot-holds"}, {paused, "example.org/note", "paused"},
	} {
		if findings, _ := examine(t, strings.Replace(tc.object, "NOTE", tc.annotation, 1)); len(findings) != 1 ||
			findings[0].Rule != tc.want || findings[0].Transient != (tc.want == "pivot-holds") {
			t.Errorf("%s with %s: %v", tc.want, tc.annotation, inShort(findings))
		}
	}
}
