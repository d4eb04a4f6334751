package pivot_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// seeds returns 1 to n, or the value of CLUSTER_INIT_TEST_SEED.
func seeds(t *testing.T, n uint64) []uint64 {
	t.Helper()
	if text := os.Getenv("CLUSTER_INIT_TEST_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("CLUSTER_INIT_TEST_SEED: %v", err)
		}
		return []uint64{seed}
	}
	var all []uint64
	for seed := range n {
		all = append(all, seed+1)
	}
	return all
}

// TestPreviewNamesAllThatStays holds what a preview names against what 30 generated scenes know.
func TestPreviewNamesAllThatStays(t *testing.T) {
	kinds := map[string]int{}
	for _, seed := range seeds(t, 30) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			scene := fixture.NewScene(seed)
			from, to := sceneSides(t, scene)
			preview, err := pivot.NewPreview(t.Context(), from, to, scope, false)
			if err != nil {
				t.Fatalf("CLUSTER_INIT_TEST_SEED=%d: %v", seed, err)
			}
			holdAgainst(t, scene, preview)
			if want := len(scene.Needed)+len(scene.NeededElsewhere) == 0; preview.MayStart() != want ||
				(preview.Err("demo") == nil) != want {
				t.Errorf("CLUSTER_INIT_TEST_SEED=%d: a move may start: %t, want %t", seed, preview.MayStart(), want)
			}
		})
		for _, why := range fixture.NewScene(seed).Needed {
			kinds[why]++
		}
	}
	if len(kinds) < 15 && os.Getenv("CLUSTER_INIT_TEST_SEED") == "" {
		t.Errorf("the scenes have only these reasons to stay: %v", kinds)
	}
}

func sceneSides(t *testing.T, scene *fixture.Scene) (clusters.Side, clusters.Side) {
	t.Helper()
	var sides []clusters.Side
	for range 2 {
		c, err := fixture.FakeClient(fixture.SceneDefinitions())
		if err != nil {
			t.Fatal(err)
		}
		if err := fixture.Create(t.Context(), c, "capi-system", fixture.Providers()); err != nil {
			t.Fatal(err)
		}
		sides = append(sides, clusters.Side{Client: c})
	}
	if err := scene.Create(t.Context(), sides[0].Client, fixture.Namespace); err != nil {
		t.Fatal(err)
	}
	if err := scene.CreateTarget(t.Context(), sides[1].Client); err != nil {
		t.Fatal(err)
	}
	return sides[0], sides[1]
}

// holdAgainst compares what a preview names with what the scene knows: neither more nor less.
func holdAgainst(t *testing.T, scene *fixture.Scene, preview pivot.Preview) {
	t.Helper()
	needed, elsewhere, idle := map[string]string{}, map[string]string{}, map[string]string{}
	for _, stay := range preview.Stays {
		name := stay.Object.Kind + " " + stay.Object.Name
		switch {
		case stay.Rule == "" && stay.Object.Namespace == preview.Scope.Namespace:
			idle[name] = stay.Reason
		case stay.Rule == "":
		case stay.Object.Namespace == preview.Scope.Namespace:
			needed[name] = stay.Reason
		default:
			elsewhere[name] = stay.Reason
		}
		if stay.Reason == "" || (stay.Rule != "") != (stay.Remedy != "") {
			t.Errorf("CLUSTER_INIT_TEST_SEED=%d: %s stays for the reason %q, remedy %q", scene.Seed, name, stay.Reason,
				stay.Remedy)
		}
		if stay.Rule != "" && !slices.ContainsFunc(preview.Refusals,
			func(r *pivot.Refusal) bool { return r.Rule == stay.Rule }) {
			t.Errorf("CLUSTER_INIT_TEST_SEED=%d: %s stays, and the rule %s refuses nothing", scene.Seed, name,
				stay.Rule)
		}
	}
	wantIdle := map[string]string{}
	for name := range scene.Idle {
		wantIdle[name] = "idle"
	}
	same(t, scene.Seed, "needed", needed, scene.Needed)
	same(t, scene.Seed, "needed, elsewhere", elsewhere, scene.NeededElsewhere)
	same(t, scene.Seed, "idle", idle, wantIdle)

	var moves []string
	for _, o := range slices.Concat(preview.Groups...) {
		// what is copied and stays is in both lists
		if name := o.Kind + " " + o.Name; o.Namespace == preview.Scope.Namespace && needed[name] == "" {
			moves = append(moves, name)
		}
	}
	slices.Sort(moves)
	if want := scene.Moving(); !slices.Equal(moves, want) {
		t.Errorf("CLUSTER_INIT_TEST_SEED=%d: would move\n%s\nwant\n%s", scene.Seed, strings.Join(moves, "\n"),
			strings.Join(want, "\n"))
	}
	ownersFirst(t, scene, preview)
}

func same(t *testing.T, seed uint64, what string, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == "" {
			t.Errorf("CLUSTER_INIT_TEST_SEED=%d: %s: %s is not named (%s)", seed, what, name, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] == "" {
			t.Errorf("CLUSTER_INIT_TEST_SEED=%d: %s: %s is named, and should not be: %s", seed, what, name, got[name])
		}
	}
}

// ownersFirst sees that the parent of each object that moves is the one that controls it, and in a group before its
// own.
func ownersFirst(t *testing.T, scene *fixture.Scene, preview pivot.Preview) {
	t.Helper()
	seed := scene.Seed
	groups := map[capi.Key]int{}
	for i, group := range preview.Groups {
		for _, o := range group {
			groups[o.Key()] = i + 1
		}
	}
	for _, o := range slices.Concat(preview.Groups...) {
		parent, owned := preview.Parent(o)
		if want := scene.Controllers[o.Kind+" "+o.Name]; want != "" && parent.Kind+" "+parent.Name != want {
			t.Errorf("CLUSTER_INIT_TEST_SEED=%d: %s is shown below %s, want %s", seed, o, parent, want)
		}
		if owned && cmp.Compare(groups[parent.Key()], groups[o.Key()]) >= 0 {
			t.Errorf("CLUSTER_INIT_TEST_SEED=%d: %s is created in group %d, and its owner %s in group %d", seed, o,
				groups[o.Key()], parent, groups[parent.Key()])
		}
	}
}

// A preview that refuses ends with the code that a move would have.
func TestPreviewIsAFault(t *testing.T) {
	from, to := sides(t, source(fixture.Set("Cluster", "mgmt", true, "spec", "paused")), target())
	preview, err := pivot.NewPreview(t.Context(), from, to, scope, false)
	if err != nil || preview.Interrupted() || fault.CodeOf(preview.Err("demo")) != fault.PivotRefused ||
		fault.HintOf(preview.Err("demo")) == "" {
		t.Errorf("a Cluster that a person paused: %v, interrupted %t, %v", err, preview.Interrupted(),
			preview.Err("demo"))
	}
	from, to = sides(t, source(paused), target())
	if preview, err = pivot.NewPreview(t.Context(), from, to, scope, true); err != nil || !preview.Interrupted() ||
		fault.CodeOf(preview.Err("demo")) != fault.PivotRefused {
		t.Errorf("a Cluster that a pivot paused: %v, interrupted %t, %v", err, preview.Interrupted(),
			preview.Err("demo"))
	}
	if hint := fault.HintOf(preview.Err("demo")); !strings.Contains(hint, "cluster-init pivot resume demo") ||
		!strings.Contains(hint, "cluster-init up demo") {
		t.Errorf("the hint is %s", hint)
	}
}

// What a move would only wait for is said, and refuses nothing; a class of another namespace is named where it stays.
func TestPreviewSaysMore(t *testing.T) {
	class := map[string]any{"version": "v1.36.4", "classRef": map[string]any{"name": "shared", "namespace": "classes"}}
	from, to := sides(t, source(fixture.Set("DevCluster", "mgmt", "", "metadata", "annotations",
		"clusterctl.cluster.x-k8s.io/block-move")), target())
	preview, err := pivot.NewPreview(t.Context(), from, to, scope, false)
	if err != nil || !preview.MayStart() || len(preview.Notes) != 1 ||
		!strings.HasPrefix(preview.Notes[0], "DevCluster management/mgmt ") {
		t.Errorf("with something that blocks the move for a while: %v, %v, %v", err, preview.Refusals, preview.Notes)
	}
	recorded(t, from.Client, "v1.14.0") // then a move reads the Secrets of the provider's namespace, too
	recorded(t, to.Client, "v1.14.0")
	if err := fixture.Create(t.Context(), from.Client, "capd-system", fixture.One("Secret", "mgmt-ca"),
		func(u *unstructured.Unstructured) { u.SetName("of-the-provider") }); err != nil {
		t.Fatal(err)
	}
	preview, err = pivot.NewPreview(t.Context(), from, to, scope, false)
	outside := func(s pivot.LeftBehind) bool { return s.Object.Namespace != scope.Namespace }
	if err != nil || !preview.MayStart() || slices.ContainsFunc(preview.Stays, outside) {
		t.Errorf("with a Secret of the provider: %v, %v, %v", err, preview.Refusals, preview.Stays)
	}
	from, to = sides(t, source(fixture.Set("Cluster", "mgmt", class, "spec", "topology")), target())
	preview, err = pivot.NewPreview(t.Context(), from, to, scope, false)
	named := func(s pivot.LeftBehind) bool {
		return s.Object.String() == "ClusterClass classes/shared" && s.Rule == pivot.RuleCluster
	}
	if err != nil || !slices.ContainsFunc(preview.Stays, named) {
		t.Errorf("with a class of another namespace: %v, %v", err, preview.Stays)
	}
}
