package diagnose

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// The first finding is what the command ends with: a permanent cause before a transient one, high confidence first.
func TestTheWorstFindingIsFirst(t *testing.T) {
	r := Report{Findings: []Finding{
		{Object: "transient, low", Transient: true},
		{Object: "transient", Transient: true, Confidence: readiness.HighConfidence},
		{Object: "low", Confidence: readiness.LowConfidence},
		{Object: "permanent", Confidence: readiness.HighConfidence},
		{Object: "permanent too", Confidence: readiness.HighConfidence}}}
	r.sort()
	var got []string
	for _, f := range r.Findings {
		got = append(got, f.Object)
	}
	if diff := cmp.Diff([]string{"permanent", "permanent too", "low", "transient", "transient, low"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatADiagnosisEndsWith(t *testing.T) {
	cause, answers := []Finding{{Cause: "c"}}, []string{"bootstrap"}
	for name, tc := range map[string]struct {
		report Report
		want   fault.Code
	}{
		"a cause":            {Report{Clusters: answers, Findings: cause}, fault.ComponentStuck},
		"a cause, no answer": {Report{Findings: cause}, fault.ComponentStuck},
		"no cluster answers": {Report{}, fault.ClusterUnreachable},
		"all is ready":       {Report{Clusters: answers}, fault.CodeOf(nil)},
		"something waits":    {Report{Clusters: answers, Waiting: []Finding{{Object: "a"}}}, fault.CodeOf(nil)},
	} {
		err := tc.report.Err()
		if fault.CodeOf(err) != tc.want || (err == nil) != (tc.want == fault.CodeOf(nil)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A case's logs reach the finding about their Pod, and its machines' words the rules.
func TestTheLogIsShownWithItsPod(t *testing.T) {
	c := aCase(t)
	for _, u := range c.Clusters[0].Objects {
		if u.GetKind() == "Pod" {
			c.Clusters[0].Logs = append(c.Clusters[0].Logs, Lines{health.RefOf(u), []string{"the last line"}})
		}
	}
	r, err := c.Report()
	at := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Object == "Pod/capi/manager-1-x" })
	if err != nil || at < 0 || !slices.Equal(r.Findings[at].Log, []string{"the last line"}) {
		t.Errorf("%v, %+v", err, r.Findings)
	}
}

// The rules of a user come first also in a report.
func TestAReportKnowsTheRulesOfTheUser(t *testing.T) {
	more, err := ReadRules(folderOf(t, map[string]string{"ours.yaml": "signal: ^waiting$\ncause: ours\nremedy: ask\n"}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := aCase(t).Report(more...)
	if err != nil || !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == "ours" }) {
		t.Errorf("%v, %+v", err, r.Findings)
	}
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == "pod-image-not-found" }) {
		t.Errorf("the rule of the binary counts too: %+v", r.Findings)
	}
}

// A secret of a cluster that does not list its Secrets may stand in what the other cluster wrote.
func TestLogsAreLeftOutWhereAnotherClusterHidesItsSecrets(t *testing.T) {
	c := aCase(t)
	c.Clusters = append(c.Clusters, Seen{Observation: readiness.Observation{Cluster: "management"},
		secretsUnknown: true})
	kept := c.withoutUnknown().Clusters[0]
	if len(kept.Objects) == 0 || len(kept.Logs) > 0 || len(kept.MachineSignals) > 0 {
		t.Errorf("%+v", kept)
	}
	c.Clusters = c.Clusters[:1]
	if kept := c.withoutUnknown().Clusters[0]; len(kept.Logs) == 0 || len(kept.MachineSignals) == 0 {
		t.Errorf("all Secrets are known: %+v", kept)
	}
}

// An annotation that repeats an object as text is JSON in JSON, in which no secret is found.
func TestACaseHasNoCopiesOfObjects(t *testing.T) {
	c := aCase(t)
	u := c.Clusters[0].Objects[0]
	u.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "a-copy", "note": "kept"})
	u.Object["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": "a-manager"}}
	clean, err := c.redacted(func(v any) any { return v })
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(clean)
	for part, want := range map[string]bool{"a-copy": false, "a-manager": false, "kept": true} {
		if err != nil || strings.Contains(string(text), part) != want {
			t.Errorf("%v: %q in the case: %v", err, part, !want)
		}
	}
}

// A Pod waits for what it mounts, and other kinds do not. Only a Certificate stands behind its Secret.
func TestWhoWaitsForASecret(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to string
		want     bool // whether the chain reaches the issuer that does not exist
	}{
		"as it is":               {"", "", true},
		"an optional Secret":     {"secretName: webhook-cert}}", "secretName: webhook-cert, optional: true}}", false},
		"a ConfigMap":            {"secret: {secretName: webhook-cert}", "configMap: {name: webhook-cert}", false},
		"a Pod of another group": {"apiVersion: v1\nkind: Pod", "apiVersion: example.org/v1\nkind: Pod", false},
		"no Pod":                 {"kind: Pod", "kind: PodTemplate", false},
		"no Certificate":         {"kind: Certificate", "kind: CertificateRequest", false},
		"of another group":       {"cert-manager.io/v1", "example.org/v1", false},
	} {
		seen := readiness.Observation{Objects: decode(t, strings.ReplaceAll(webhook, tc.from, tc.to)),
			Kinds: []schema.GroupKind{{Kind: "Secret"}, {Group: "cert-manager.io", Kind: "Issuer"}}}
		if tc.from == "" {
			seen.Objects = decode(t, webhook)
		}
		s := NewSnapshot(seen)
		findings, _ := s.examine(s.roots(side{}), readRules(t))
		got := slices.ContainsFunc(findings, func(f Finding) bool { return f.Object == "Issuer/kube-system/nope" })
		if got != tc.want {
			t.Errorf("%s: %v", name, inShort(findings))
		}
	}
}

// An object on the path to a cause is part of its chain. Each other one is delayed, and named once.
func TestWhatACauseDelays(t *testing.T) {
	second := strings.Replace(component[strings.LastIndex(component, "---\n")+4:], "{name: cluster,", "{name: second,",
		1)
	findings, _ := examine(t, component+"---\n"+second)
	want := []string{"Kustomization/flux-system/cluster", "Kustomization/flux-system/second"}
	if len(findings) != 1 || !slices.Equal(findings[0].Delays, want) {
		t.Errorf("%v", inShort(findings))
	}
	pod := health.Ref{Kind: "Pod", Namespace: "capi", Name: "manager-1-x"}
	deployment := health.Ref{Group: "apps", Kind: "Deployment", Namespace: "capi", Name: "manager"}
	other := health.Ref{Group: "apps", Kind: "Deployment", Namespace: "capi", Name: "other"}
	s := NewSnapshot(readiness.Observation{Objects: decode(t, component)})
	list := s.add(nil, Finding{Object: pod.String()}, []health.Ref{deployment, pod})
	for _, root := range []health.Ref{pod, deployment, other, other} {
		list = s.add(list, Finding{Object: pod.String()}, []health.Ref{root, pod})
	}
	if len(list) != 1 || !slices.Equal(list[0].Delays, []string{other.String()}) {
		t.Errorf("%v", inShort(list))
	}
}

// An object that two fields name is one object on the path, and none waits for itself.
func TestEachObjectIsInAChainOnce(t *testing.T) {
	const twice = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system}
spec: {dependsOn: [{name: b}, {name: b}, {name: a}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: b, namespace: flux-system}
`
	objects := decode(t, twice)
	got := NewSnapshot(readiness.Observation{Objects: objects}).unready(health.RefOf(objects[0]))
	if !slices.Equal(got, []health.Ref{health.RefOf(objects[1])}) {
		t.Errorf("%v", got)
	}
}

// A run waits for its own Cluster, Machines, sets of resources and workloads; what belongs to others is not its goal.
func TestRoots(t *testing.T) {
	const template = "{apiVersion: VERSION, kind: KIND, metadata: {name: a, namespace: NAMESPACE}}"
	for _, tc := range []struct {
		version, kind, namespace string
		want                     string // "always", "unless it moves" or "never"
	}{
		{"kustomize.toolkit.fluxcd.io/v1", "Kustomization", "flux-system", "unless it moves"},
		{"kustomize.toolkit.fluxcd.io/v1", "Kustomization", "ours", "never"},
		{"cluster.x-k8s.io/v1beta2", "Cluster", "ours", "always"},
		{"cluster.x-k8s.io/v1beta2", "Machine", "ours", "always"},
		{"cluster.x-k8s.io/v1beta2", "Machine", "theirs", "never"},
		{"cluster.x-k8s.io/v1beta2", "MachineSet", "ours", "never"},
		{"example.org/v1", "Machine", "ours", "never"},
		{"example.org/v1", "ClusterResourceSet", "ours", "never"},
		{"addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSet", "ours", "always"},
		{"addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSet", "theirs", "never"},
		{"addons.cluster.x-k8s.io/v1beta2", "ClusterResourceSetBinding", "ours", "never"},
		{"v1", "Node", "", "always"},
		{"example.org/v1", "Node", "", "never"},
		{"v1", "Pod", "kube-system", "never"},
		{"apps/v1", "Deployment", "kube-system", "always"},
		{"apps/v1", "ReplicaSet", "kube-system", "never"},
		{"apps/v1", "Deployment", "theirs", "never"},
		{"apps/v1", "Deployment", "flux-system", "always"},
	} {
		text := strings.NewReplacer("VERSION", tc.version, "KIND", tc.kind, "NAMESPACE", `"`+tc.namespace+`"`)
		s := NewSnapshot(readiness.Observation{Objects: decode(t, text.Replace(template))})
		for name, row := range map[string]struct {
			side side
			want bool
		}{
			"as it is":  {side{}, tc.want != "never"},
			"moved":     {side{suspendedForPivot: true}, tc.want == "always"},
			"torn down": {side{beingDeleted: true}, tc.want == "always"},
		} {
			row.side.scope = clusters.Scope{Namespace: "ours", Cluster: "a"}
			if got := len(s.roots(row.side)) == 1; got != row.want {
				t.Errorf("%s %s in %q, %s: %v", tc.version, tc.kind, tc.namespace, name, got)
			}
		}
	}
}

// As many machines as a diagnosis inspects are all inspected, and none is reported as left out.
func TestInspectsAsManyMachinesAsItCan(t *testing.T) {
	seen := readiness.Observation{Cluster: "management"}
	for i := range maxMachines {
		seen.Objects = append(seen.Objects, machineOf(t, fmt.Sprintf("m-%02d", i))...)
	}
	of := &cloud{answer: func(string) ([]provider.Said, error) { return nil, nil }}
	if left := NewSnapshot(seen).inspectMachines(t.Context(), of); len(left) > 0 || of.asked.Load() != maxMachines {
		t.Errorf("%d of %d: %v", of.asked.Load(), maxMachines, left)
	}
}

// A machine that is leaving has nothing to say of why a cluster does not get ready.
func TestAMachineThatLeavesIsNotInspected(t *testing.T) {
	objects := machineOf(t, "m")
	objects[0].Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-11-27T10:00:00Z"
	of := &cloud{answer: func(string) ([]provider.Said, error) { return nil, nil }}
	NewSnapshot(readiness.Observation{Objects: objects}).inspectMachines(t.Context(), of)
	if of.asked.Load() != 0 {
		t.Error("it was inspected")
	}
}
