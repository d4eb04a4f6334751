package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// What may heal is reported behind what does not, also where it was observed first.
func TestAReportIsSorted(t *testing.T) {
	c := aCase(t)
	c.Observed = []Signals{{Object: health.Ref{Kind: "APIServer", Name: "management"},
		Signals: []Signal{{Origin: "error", Message: "timeout"}}}}
	r, err := c.Report()
	if err != nil || len(r.Findings) < 2 || r.Findings[0].Transient || !r.Findings[len(r.Findings)-1].Transient {
		t.Errorf("%v, %v", err, inShort(r.Findings))
	}
}

// What has no known cause is in the report, and each finding names its cluster.
func TestAReportNamesWhatWaits(t *testing.T) {
	const waits = `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization,
  metadata: {name: a, namespace: flux-system},
  status: {conditions: [{type: Ready, status: Unknown, reason: Progressing}]}}`
	c := Case{Clusters: []Seen{{Observation: readiness.Observation{Cluster: "management", Objects: decode(t, waits)}}}}
	r, err := c.Report()
	if err != nil || len(r.Waiting) != 1 || r.Waiting[0].Cluster != "management" || len(r.Waiting[0].Chain) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestACaseWithAnEmptyEvent(t *testing.T) {
	const text = `{"type":"diagnosis-case","schemaVersion":2,"clusters":[{"Events":[null]}]}`
	if _, err := ReadCase(strings.NewReader(text)); fault.CodeOf(err) != fault.Usage {
		t.Error(err)
	}
}

// A rule needs one of signal, reason and message, whichever.
func TestARuleWithOneExpression(t *testing.T) {
	for _, key := range []string{"signal", "reason", "message"} {
		folder := folderOf(t, map[string]string{"a.yaml": key + ": x\ncause: a\nremedy: b\n"})
		if rules, err := ReadRules(folder); err != nil || len(rules) != 1 {
			t.Errorf("%s: %v, %v", key, rules, err)
		}
	}
}

func TestAnEntryGoesOnInTheNextLine(t *testing.T) {
	got := entries([]string{"E1 failed err=<", "\tmore", " > controller", "I1 next"})
	want := []entry{"E1 failed err=<\n\tmore\n > controller", "I1 next"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Volumes without a Secret or ConfigMap keep no Pod waiting, though all Secrets are known.
func TestAPodThatMountsNoSecret(t *testing.T) {
	objects := decode(t, `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns},
  spec: {volumes: [{name: x, emptyDir: {}}, {name: y, hostPath: {path: /}}]}}`)
	seen := readiness.Observation{Objects: objects, Kinds: []schema.GroupKind{{Kind: "Secret"}, {Kind: "ConfigMap"}}}
	if below := NewSnapshot(seen).unready(health.RefOf(objects[0])); len(below) > 0 {
		t.Errorf("it waits for %v", below)
	}
}

// Only a Certificate of cert-manager with a Secret is what that Secret waits for.
func TestWhatMakesASecret(t *testing.T) {
	for text, want := range map[string]int{
		"{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}, spec: {secretName: s}}": 1,
		"{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}}":                        0,
		"{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: a}, spec: {secretName: s}}":      0,
		"{apiVersion: example.org/v1, kind: Certificate, metadata: {name: a}, spec: {secretName: s}}":     0,
	} {
		if got := parents(decode(t, text)[0]); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Flux owns what it has applied by its labels alone.
func TestALabelOfFluxIsAnOwner(t *testing.T) {
	const owned = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: flux-system}
status: {conditions: [{type: Ready, status: Unknown, reason: Progressing}]}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
  namespace: ns
  labels: {helm.toolkit.fluxcd.io/name: a, helm.toolkit.fluxcd.io/namespace: flux-system}
spec: {replicas: 1}
status: {replicas: 1, updatedReplicas: 1, unavailableReplicas: 1}
`
	_, waiting := examine(t, owned)
	want := []string{" Deployment/ns/d: HelmRelease/flux-system/a > Deployment/ns/d"}
	if diff := cmp.Diff(want, inShort(waiting)); diff != "" {
		t.Error(diff)
	}
}

// A chain that is longer than a walk goes ends there, and is reported all the same.
func TestALongChainIsReported(t *testing.T) {
	var all []string
	for i := range maxDepth + 4 {
		all = append(all, fmt.Sprintf(`{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization,
  metadata: {name: k%d, namespace: flux-system}, spec: {dependsOn: [{name: k%d}]}}`, i, i+1))
	}
	objects := decode(t, strings.Join(all, "\n---\n"))
	s := NewSnapshot(readiness.Observation{Objects: objects})
	_, waiting := s.examine([]health.Ref{health.RefOf(objects[0])}, readRules(t))
	if len(waiting) != 1 || len(waiting[0].Chain) != maxDepth {
		t.Errorf("%v", inShort(waiting))
	}
}

// Two objects with the same cause are two findings.
func TestOneCauseOfTwoObjects(t *testing.T) {
	findings, _ := examine(t, suspendedByHand+"---"+strings.Replace(suspendedByHand, "name: a", "name: b", 1))
	if len(findings) != 2 || findings[0].Cluster != "bootstrap" {
		t.Errorf("%v", inShort(findings))
	}
}

// A warning is no permanent cause: nothing waits for it.
func TestAWarningDoesNotLast(t *testing.T) {
	for severity, want := range map[readiness.Severity]bool{readiness.Warning: false, readiness.Blocking: true,
		"": true} {
		if got := (Finding{Confidence: readiness.HighConfidence, Severity: severity}).Lasting(); got != want {
			t.Errorf("%q: %v", severity, got)
		}
	}
}

// The readiness checks report what no rule replaces, and say what can go away by itself.
func TestWhatReadinessChecksReport(t *testing.T) {
	registry := readiness.Probe{Kind: readiness.RegistryRuns, Object: health.Ref{Kind: "Container", Name: "r"},
		Message: readiness.RegistryAbsent}
	server := readiness.Probe{Kind: readiness.ReadyCheck, Object: health.Ref{Kind: "APIServer", Name: "a"}}
	seen := Seen{Observation: readiness.Observation{Cluster: "management", Probes: []readiness.Probe{registry, server}}}
	explained := []Finding{{Object: "Container/r"}, {Object: "APIServer/a"}}
	lasts := map[string]bool{}
	for _, f := range unhealthy(seen, explained) {
		lasts[f.Object] = f.Lasting()
	}
	if diff := cmp.Diff(map[string]bool{"Container/r": true, "APIServer/a": false}, lasts); diff != "" {
		t.Error(diff)
	}
	paused := decode(t, `{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevMachine,
  metadata: {name: a, namespace: ns, annotations: {cluster.x-k8s.io/paused: ""}}}`)
	for moved, want := range map[bool]int{false: 1, true: 0} {
		seen := Seen{SuspendedForPivot: moved, Observation: readiness.Observation{Objects: paused}}
		if found := unhealthy(seen, nil); len(found) != want {
			t.Errorf("paused, in a pivot: %v: %+v", moved, found)
		}
	}
}

// A container is outside of both clusters, so both report it. What is inside is each cluster's.
func TestWhatBothClustersReport(t *testing.T) {
	r := Report{Findings: []Finding{{Object: "Container/r", Rule: "registry-missing"},
		{Object: "Node/a", Rule: "node-silent"}}}
	for _, tc := range []struct {
		finding Finding
		want    bool
	}{
		{Finding{Object: "Container/r", Rule: "registry-missing"}, true},
		{Finding{Object: "Container/r", Rule: "registry-paused"}, false},
		{Finding{Object: "Container/other", Rule: "registry-missing"}, false},
		{Finding{Object: "Node/a", Rule: "node-silent"}, false},
	} {
		if got := r.alreadyReported(tc.finding); got != tc.want {
			t.Errorf("%+v: %v", tc.finding, got)
		}
	}
}

// A diagnosis looks into Machines of Cluster API that are not ready, and into nothing else.
func TestWhatIsInspected(t *testing.T) {
	const object = `{apiVersion: GROUP/v1beta2, kind: KIND, metadata: {name: a, namespace: management},
  spec: {infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachine, name: a}},
  status: {conditions: [{type: Available, status: "STATUS"}, {type: Ready, status: "STATUS"}]}}`
	for _, tc := range []struct {
		group, kind, status string
		want                int32
	}{
		{"cluster.x-k8s.io", "Machine", "False", 1},
		{"cluster.x-k8s.io", "Machine", "True", 0},
		{"cluster.x-k8s.io", "Cluster", "False", 0},
		{"example.org", "Machine", "False", 0},
	} {
		text := strings.NewReplacer("GROUP", tc.group, "KIND", tc.kind, "STATUS", tc.status).Replace(object)
		of := &cloud{answer: func(string) ([]provider.Said, error) { return nil, nil }}
		NewSnapshot(readiness.Observation{Objects: decode(t, text)}).inspectMachines(t.Context(), of)
		if got := of.asked.Load(); got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}

// A phase says why in one of three fields.
func TestWhatAPhaseSays(t *testing.T) {
	for status, want := range map[string]Signal{
		"{phase: Failed, failureMessage: m}":             {Origin: "phase", Reason: "Failed", Message: "m"},
		"{phase: Failed, reason: Evicted, message: m}":   {Origin: "phase", Reason: "Failed Evicted", Message: "m"},
		"{phase: Failed, failureMessage: m, message: n}": {Origin: "phase", Reason: "Failed", Message: "m"},
	} {
		u := decode(t, "{apiVersion: example.org/v1, kind: A, metadata: {name: a}, status: "+status+"}")[0]
		if got := metadataSignals(u); !slices.Equal(got, []Signal{want}) {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

// A condition of an older spec may be over.
func TestAConditionOfAnOlderSpec(t *testing.T) {
	for observed, past := range map[int]bool{1: true, 2: false} {
		u := decode(t, fmt.Sprintf(`{apiVersion: example.org/v1, kind: A, metadata: {name: a, generation: 2},
  status: {observedGeneration: %d, conditions: [{type: Ready, status: "False"}]}}`, observed))[0]
		if got := conditionSignals(u); len(got) != 1 || got[0].Past != past {
			t.Errorf("observed generation %d: %+v", observed, got)
		}
	}
}

// Only what Flux retries after a failure has its last event for a reason.
func TestWhatFluxRetries(t *testing.T) {
	const object = `{apiVersion: GROUP, kind: Kustomization, metadata: {name: a, namespace: ns, generation: 1},
  status: {observedGeneration: 1, history: [HISTORY],
    conditions: [{type: Ready, status: Unknown, reason: Progressing}CONDITION]}}`
	const flux, healthy = "kustomize.toolkit.fluxcd.io/v1", ", {type: Healthy, status: Unknown, reason: Progressing}"
	for name, tc := range map[string]struct {
		group, history, condition string
		want                      bool
	}{
		"it failed":                      {flux, "{lastReconciledStatus: BuildFailed}", "", true},
		"it succeeded":                   {flux, "{lastReconciledStatus: ReconciliationSucceeded}", "", false},
		"it says nothing of its last":    {flux, "{}", "", false},
		"it never ended":                 {flux, "", "", false},
		"it is applied, and waits":       {flux, "{lastReconciledStatus: BuildFailed}", healthy, false},
		"another controller's condition": {"example.org/v1", "{lastReconciledStatus: BuildFailed}", "", false},
	} {
		replacer := strings.NewReplacer("GROUP", tc.group, "HISTORY", tc.history, "CONDITION", tc.condition)
		if got := fluxRetries(decode(t, replacer.Replace(object))[0]); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// No secret that is known leaves with a report, whatever field it is in.
func TestAReportHasNoSecrets(t *testing.T) {
	const secret = "hunter2-hunter2"
	finding := func() Finding {
		return Finding{Cause: secret, Remedy: secret, Message: secret, Log: []string{secret},
			Chain: []Link{{Message: secret}}}
	}
	r := Report{Findings: []Finding{finding()}, Waiting: []Finding{finding()}, NotChecked: []string{secret}}
	r.redact(redact.New(secret))
	if text := fmt.Sprintf("%+v", r); strings.Contains(text, secret) {
		t.Error(text)
	}
}
