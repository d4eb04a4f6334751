//go:build integration

package pivot_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

func TestMoveForReal(t *testing.T) {
	s := newStage(t)
	planned := s.keys(s.Source.Client)
	result, err := pivot.Run(t.Context(), s.Input)
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(s.lines, "\n"))
	}
	if want := len(fixture.ManagementCluster()); len(result.Moved) != want || len(planned) != want {
		t.Errorf("moved %d, planned %d, want %d objects", len(result.Moved), len(planned), want)
	}
	if arrived := s.keys(s.Target.Client); !slices.Equal(arrived, planned) {
		t.Errorf("on the target:\n%s\nwant\n%s", strings.Join(arrived, "\n"), strings.Join(planned, "\n"))
	}
	if left := s.keys(s.Source.Client); len(left) != 0 {
		t.Errorf("left at the source: %v", left)
	}
	for _, u := range fixture.Bystanders() {
		if !s.exists(s.Source.Client, u) || s.exists(s.Target.Client, u) {
			t.Errorf("%s %s did not stay where it was", u.GetKind(), u.GetName())
		}
	}
	if s.flux.suspended != 1 || s.flux.resumed != 0 {
		t.Errorf("Flux was suspended %d times and resumed %d times, want 1 and 0", s.flux.suspended, s.flux.resumed)
	}
	if state := s.state(); state.Phase != pivot.Done {
		t.Errorf("the state is %s %s, want done", state.Phase, state.Stage)
	}
	if state, err := pivot.ReadState(t.Context(), clusters.Side{}, s.Target, s.Scope); err != nil ||
		state.Phase != pivot.Done {
		t.Errorf("without its source the state is %v, %v, want done", state.Phase, err)
	}

	again, err := pivot.Run(t.Context(), s.Input)
	if err != nil || !again.Already || s.moves != 1 {
		t.Errorf("a second run gave %+v, %v after %d moves, want nothing to be done", again, err, s.moves)
	}
}

// TestPlanIsWhatClusterctlMoves holds our graph against clusterctl's own: what it created on the target.
func TestPlanIsWhatClusterctlMoves(t *testing.T) {
	s := newStage(t, fixture.Set("Secret", "unrelated", "", "metadata", "labels", "clusterctl.cluster.x-k8s.io/move"))
	plan, err := pivot.NewPlan(t.Context(), s.Source, s.Target, s.Scope)
	if err != nil {
		t.Fatal(err)
	}
	if err := capi.Move(t.Context(), capi.MoveInput{From: s.Source.Config, To: s.Target.Config,
		Namespace: s.Scope.Namespace}); err != nil {
		t.Fatal(err)
	}
	graph, err := capi.Discover(t.Context(), s.Target.Client, s.Scope.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, o := range graph.All() { // all, not only what our rules would move
		if o.Name != "kube-root-ca.crt" {
			got = append(got, o.String())
		}
	}
	for _, o := range plan.Objects {
		want = append(want, o.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("clusterctl moved\n%s\nthe plan was\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRunRefusesAndTouchesNothing(t *testing.T) {
	rows := map[string]struct {
		edit fixture.Edit
		rule pivot.Rule
	}{
		"machine without a node": {fixture.Unset("Machine", "mgmt-cp-a", "status", "nodeRef"), pivot.RuleMachines},
		"machine not ready":      {fixture.Unset("Machine", "mgmt-cp-a", "status", "conditions"), pivot.RuleMachines},
		"template without owner": {fixture.Unset("DevMachineTemplate", "mgmt-cp", "metadata", "ownerReferences"),
			pivot.RuleObjects},
		"object paused": {fixture.Set("DevCluster", "mgmt", "", "metadata", "annotations",
			"cluster.x-k8s.io/paused"), pivot.RulePaused},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, row.edit)
			s.refused(row.rule)
		})
	}
}

func (s *stage) refused(rule pivot.Rule) {
	s.t.Helper()
	before := s.keys(s.Source.Client)
	_, err := pivot.Run(s.t.Context(), s.Input)
	byRule := func(r *pivot.Refusal) bool { return r.Rule == rule }
	if fault.CodeOf(err) != fault.PivotRefused || !slices.ContainsFunc(pivot.Refusals(err), byRule) {
		s.t.Fatalf("got %v, want a refusal by the rule %s", err, rule)
	}
	if s.moves != 0 || s.flux.suspended != 0 || !slices.Equal(before, s.keys(s.Source.Client)) ||
		len(s.keys(s.Target.Client)) != 0 {
		s.t.Errorf("a refusal has changed something: %d moves, Flux suspended %d times", s.moves, s.flux.suspended)
	}
}

// TestRunRefusesWithoutLabels is the trap: clusterctl would move 0 objects and report success.
func TestRunRefusesWithoutLabels(t *testing.T) {
	s := newStage(t, fixture.Unset("Secret", "cloud-credentials", "metadata", "labels"), // these would move even so
		fixture.Unset("ConfigMap", "mgmt-load-balancer", "metadata", "labels"))
	relabel := func(patch string) {
		// has the names, labelled throughout
		graph, err := capi.Discover(t.Context(), s.Target.Client, s.Scope.Namespace)
		if err != nil {
			t.Fatal(err)
		}
		for _, crd := range graph.CRDs {
			u := &unstructured.Unstructured{}
			u.SetAPIVersion("apiextensions.k8s.io/v1")
			u.SetKind("CustomResourceDefinition")
			u.SetName(crd.Name)
			if err := s.Source.Client.Patch(t.Context(), u, client.RawPatch("application/merge-patch+json",
				[]byte(patch))); err != nil {
				t.Fatal(err)
			}
		}
	}
	relabel(`{"metadata":{"labels":{"clusterctl.cluster.x-k8s.io":null}}}`)
	defer relabel(`{"metadata":{"labels":{"clusterctl.cluster.x-k8s.io":""}}}`)

	if err := capi.Move(t.Context(), capi.MoveInput{From: s.Source.Config, To: s.Target.Config,
		Namespace: s.Scope.Namespace}); err != nil {
		t.Fatalf("clusterctl has learned to refuse this, the rule may go: %v", err)
	}
	s.refused(pivot.RuleLabels)
}

func TestRunRefusesAnotherProviderVersion(t *testing.T) {
	s := newStage(t)
	setImage := func(image string) {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("apps/v1")
		u.SetKind("Deployment")
		key := client.ObjectKey{Namespace: "capi-system", Name: "capi-controller-manager"}
		if err := s.Target.Client.Get(t.Context(), key, u); err != nil {
			t.Fatal(err)
		}
		containers := []any{map[string]any{"name": "manager", "image": image}}
		if err := unstructured.SetNestedSlice(u.Object, containers, "spec", "template", "spec",
			"containers"); err != nil {
			t.Fatal(err)
		}
		if err := s.Target.Client.Update(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		_ = unstructured.SetNestedField(u.Object, u.GetGeneration(), "status", "observedGeneration")
		if err := s.Target.Client.Status().Update(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	setImage("registry.k8s.io/cluster-api/cluster-api-controller:v1.13.0")
	defer setImage("registry.k8s.io/cluster-api/cluster-api-controller:v1.14.0")
	s.refused(pivot.RuleProviders)
}
