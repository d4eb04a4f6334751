package diagnose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// world is a component whose HelmRelease has a Deployment with a Pod; each test says how they are.
const component = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: capi, namespace: flux-system}
spec: {sourceRef: {kind: OCIRepository, name: content}}
status:
  conditions: [{type: Ready, status: "False", reason: HealthCheckFailed, message: "health check failed after 30s: timeout waiting for: [Deployment/capi/manager status: 'InProgress']"}]
  inventory: {entries: [{id: capi_manager_apps_Deployment, v: v1}]}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: content, namespace: flux-system}
status: {conditions: [{type: Ready, status: "True", reason: Succeeded}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: capi, generation: 1}
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1, conditions: [{type: Available, status: "False", reason: MinimumReplicasUnavailable, message: none}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: manager-1, namespace: capi, generation: 1, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: manager, uid: a}]}
spec: {replicas: 1}
status: {observedGeneration: 1, replicas: 1, fullyLabeledReplicas: 1, availableReplicas: 0, readyReplicas: 0}
---
apiVersion: v1
kind: Pod
metadata: {name: manager-1-x, namespace: capi, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: manager-1, uid: a}]}
status:
  phase: Pending
  conditions: [{type: Ready, status: "False", reason: ContainersNotReady, message: "containers with unready status: [manager]"}]
  containerStatuses: [{name: manager, ready: false, state: {waiting: {reason: ErrImagePull, message: 'failed to pull and unpack image "registry.lab/m:v1": registry.lab/m:v1: not found'}}}]
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: cluster, namespace: flux-system}
spec: {dependsOn: [{name: capi}], sourceRef: {kind: OCIRepository, name: content}}
status: {conditions: [{type: Ready, status: "False", reason: DependencyNotReady, message: dependency 'flux-system/capi' is not ready}]}
`

func TestTheCauseIsAtTheBottom(t *testing.T) {
	findings, waiting := examine(t, component)
	want := []string{"pod-image-not-found Pod/capi/manager-1-x: Kustomization/flux-system/capi > " +
		"Deployment/capi/manager > ReplicaSet/capi/manager-1 > Pod/capi/manager-1-x; delays " +
		"Kustomization/flux-system/cluster"}
	if diff := cmp.Diff(want, inShort(findings)); diff != "" || len(waiting) > 0 {
		t.Error(diff, waiting)
	}
}

func TestWhatIsWell(t *testing.T) {
	findings,
		waiting := examine(
		t,
		`{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a, namespace: flux-system}, status: {conditions: [{type: Ready, status: "True"}]}}`)
	if len(findings)+len(waiting) > 0 {
		t.Error(findings, waiting)
	}
}

func TestWhatNoRuleKnowsIsNamed(t *testing.T) {
	findings,
		waiting := examine(
		t,
		`{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a, namespace: flux-system}, status: {conditions: [{type: Ready, status: Unknown, reason: Progressing, message: "Building manifests"}]}}`)
	if len(findings) > 0 || len(waiting) != 1 || waiting[0].Object != "Kustomization/flux-system/a" ||
		waiting[0].Message != "Building manifests" {
		t.Error(findings, waiting)
	}
}

// An object that has a cause of its own says it, whatever is below it.
func TestACauseOfItsOwnCountsToo(t *testing.T) {
	broken := strings.Replace(component, "reason: HealthCheckFailed, message: \"health check failed after 30s: "+
		"timeout waiting for: [Deployment/capi/manager status: 'InProgress']\"",
		"reason: BuildFailed, message: kustomize build failed", 1)
	findings, _ := examine(t, broken)
	if len(findings) != 2 || findings[0].Rule != "pod-image-not-found" || findings[1].Rule != "kustomize-build" {
		t.Error(inShort(findings))
	}
}

// What a kind was not listed of is not known, and not missing.
func TestUnlistedIsNotMissing(t *testing.T) {
	objects := decode(t, component)
	listed := readiness.Observation{Cluster: "bootstrap"}
	for _, u := range objects {
		if u.GetKind() != "OCIRepository" {
			listed.Objects = append(listed.Objects, u)
		}
	}
	roots := func(s *Snapshot) []Finding {
		findings, _ := s.examine(s.roots(side{}), readRules(t))
		return findings
	}
	for _, f := range roots(NewSnapshot(listed)) {
		if f.Rule == "missing-source" {
			t.Error("a source of a kind that was not listed is called missing")
		}
	}
	listed.Kinds = []schema.GroupKind{{Group: "source.toolkit.fluxcd.io", Kind: "OCIRepository"}}
	found := false
	for _, f := range roots(NewSnapshot(listed)) {
		found = found || f.Rule == "missing-source"
	}
	if !found {
		t.Error("a source that does not exist is not called missing")
	}
}

// Others' objects are looked at only where something of ours waits for them, and not at all what a pivot has suspended.
func TestOnlyWhatIsOurs(t *testing.T) {
	const tenants = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: theirs, namespace: tenant}
spec: {suspend: true}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: theirs, namespace: tenant}
spec: {paused: true}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ours, namespace: flux-system}
spec: {suspend: true}
`
	s := NewSnapshot(readiness.Observation{Objects: decode(t, tenants)})
	findings, _ := s.examine(s.roots(side{scope: clusters.Scope{Namespace: "default"}}), readRules(t))
	if len(findings) != 1 || findings[0].Rule != "suspended" || findings[0].Object != "Kustomization/flux-system/ours" {
		t.Error(inShort(findings))
	}
	if roots := s.roots(side{suspendedForPivot: true}); len(roots) > 0 {
		t.Error(roots)
	}
}

// A circle of owners ends.
func TestACircleEnds(t *testing.T) {
	const circle = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system}
spec: {dependsOn: [{name: b}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: b, namespace: flux-system}
spec: {dependsOn: [{name: a}]}
`
	if _, waiting := examine(t, circle); len(waiting) == 0 {
		t.Error("nothing waits")
	}
}

func examine(t *testing.T, text string) (findings, waiting []Finding) {
	t.Helper()
	s := NewSnapshot(readiness.Observation{Cluster: "bootstrap", Objects: decode(t, text)})
	return s.examine(s.roots(side{}), readRules(t))
}

func inShort(findings []Finding) (all []string) {
	for _, f := range findings {
		var chain []string
		for _, l := range f.Chain {
			chain = append(chain, l.Object)
		}
		text := f.Rule + " " + f.Object + ": " + strings.Join(chain, " > ")
		if len(f.Delays) > 0 {
			text += "; delays " + strings.Join(f.Delays, ", ")
		}
		all = append(all, text)
	}
	return all
}

func decode(t *testing.T, text string) (all []*unstructured.Unstructured) {
	t.Helper()
	for _, document := range strings.Split(text, "\n---\n") {
		content, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(content); err != nil { // numbers are whole ones, as an API server's are
			t.Fatal(err)
		}
		all = append(all, u)
	}
	return all
}

func TestLasting(t *testing.T) {
	for name, tc := range map[string]struct {
		finding Finding
		want    bool
	}{
		"certain":                     {Finding{Confidence: readiness.HighConfidence}, true},
		"of what may be over":         {Finding{Confidence: readiness.HighConfidence, Past: true}, false},
		"what may have another cause": {Finding{}, false},
		"what can go away":            {Finding{Confidence: readiness.HighConfidence, Transient: true}, false},
	} {
		if got := tc.finding.Lasting(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Two Kustomizations, b and c, wait for d, which b reaches first.
const diamond = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system}
spec: {dependsOn: [{name: b}, {name: c}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: b, namespace: flux-system}
spec: {dependsOn: [{name: d}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: c, namespace: flux-system}
spec: {dependsOn: [{name: d}C_MORE]}
status: {conditions: [{type: Ready, status: "False", C_READY}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: d, namespace: flux-system}
status: {conditions: [{type: Ready, status: "False", D_READY}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: e, namespace: flux-system}
`

// An object whose children another path has reached first has its chain, and a cause of its own. What follows from a
// cause below it is none, whichever path has led there.
func TestAnObjectWhoseChildrenAnotherPathReached(t *testing.T) {
	const (
		waits  = "reason: DependencyNotReady, message: not ready"
		broken = "reason: BuildFailed, message: kustomize build failed"
		checks = `reason: HealthCheckFailed, message: "health check failed after 30s: timeout waiting for: [x]"`
		toD    = "Kustomization/flux-system/a > Kustomization/flux-system/b > Kustomization/flux-system/d"
		toC    = "Kustomization/flux-system/a > Kustomization/flux-system/c"
	)
	for name, tc := range map[string]struct {
		c, d, more        string
		findings, waiting []string
	}{
		"nothing is known of either": {waits, waits, "", nil, []string{" Kustomization/flux-system/d: " + toD}},
		"it has a cause": {broken, waits, "", []string{"kustomize-build Kustomization/flux-system/c: " + toC},
			[]string{" Kustomization/flux-system/d: " + toD}},
		"both have one": {broken, broken, "", []string{"kustomize-build Kustomization/flux-system/d: " + toD,
			"kustomize-build Kustomization/flux-system/c: " + toC}, nil},
		"it matches a rule": {checks, waits, "", []string{"kustomize-health Kustomization/flux-system/c: " + toC},
			[]string{" Kustomization/flux-system/d: " + toD}},
		"what it matches follows from the child": {checks, broken, "",
			[]string{"kustomize-build Kustomization/flux-system/d: " + toD}, nil},
		"and it waits for another one": {checks, broken, ", {name: e}",
			[]string{"kustomize-build Kustomization/flux-system/d: " + toD},
			[]string{" Kustomization/flux-system/e: " + toC + " > Kustomization/flux-system/e"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("C_READY", tc.c, "D_READY", tc.d, "C_MORE", tc.more).Replace(diamond)
			s := NewSnapshot(readiness.Observation{Objects: decode(t, text)})
			findings, waiting := s.examine([]health.Ref{{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization",
				Namespace: "flux-system", Name: "a"}}, readRules(t))
			if diff := cmp.Diff(tc.findings, inShort(findings)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.waiting, inShort(waiting)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
