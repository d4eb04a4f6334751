package pivot_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

var (
	byHand = fixture.Set("Cluster", "mgmt", true, "spec", "paused")
	// as a move does
	paused = both(byHand, fixture.Set("Cluster", "mgmt", "management/mgmt", "metadata", "annotations",
		"cluster-init.io/pivot"))
	annotated  = fixture.Set("Cluster", "mgmt", "", "metadata", "annotations", "cluster.x-k8s.io/paused")
	everything = fixture.ManagementCluster
)

// tenant is another Cluster of the namespace.
func tenant() *unstructured.Unstructured {
	u := everything()[0].DeepCopy()
	u.SetName("tenant")
	return u
}

var tenantPaused = fixture.Set("Cluster", "tenant", true, "spec", "paused")

// firstOf returns the first n objects of the fixture; it starts with the Cluster, as clusterctl does.
func firstOf(n int) []*unstructured.Unstructured { return everything()[:n] }

// allBut returns the objects of the fixture without one of them.
func allBut(index int) []*unstructured.Unstructured {
	return slices.Delete(everything(), index, index+1)
}

// without returns the objects of the fixture without the one of this kind and name.
func without(kind, name string) []*unstructured.Unstructured {
	return slices.DeleteFunc(everything(), func(u *unstructured.Unstructured) bool {
		return u.GetKind() == kind &&
			u.GetName() == name
	})
}

func holding(objects []*unstructured.Unstructured, edits ...fixture.Edit) side {
	return side{objects: objects, edits: edits}
}

// both makes two edits.
func both(one, other fixture.Edit) fixture.Edit {
	return func(u *unstructured.Unstructured) {
		one(u)
		other(u)
	}
}

func TestReadState(t *testing.T) {
	movesAgain := []pivot.Action{pivot.ActionResume, pivot.ActionMove}
	finishes := []pivot.Action{pivot.ActionCompare, pivot.ActionDelete, pivot.ActionResume}
	tenantMoved := both(tenantPaused, fixture.Set("Cluster", "tenant", "management/mgmt", "metadata", "annotations",
		"cluster-init.io/pivot"))
	rows := map[string]struct {
		from, to side
		phase    pivot.Phase
		stage    pivot.Stage
		hint     string
		does     []pivot.Action // what Run does without a backup of the move
	}{
		"nothing anywhere": {side{}, side{}, pivot.Nothing, pivot.StageNone, "", nil},
		"only bystanders": {holding(fixture.Bystanders()), side{}, pivot.Nothing, pivot.StageNone,
			"", nil},
		"all at the source": {holding(everything()), side{}, pivot.NotStarted, pivot.StageNone, "",
			nil},
		"unlabelled at the source": {with(holding(everything()), unlabelled("*")), side{}, pivot.NotStarted,
			pivot.StageNone, "", nil},
		"a secret is on the target": {holding(everything()),
			holding(fixture.One("Secret", "cloud-credentials")), pivot.NotStarted, pivot.StageNone, "", nil},
		"source paused": {holding(everything(), paused), side{}, pivot.Interrupted,
			pivot.StagePaused, "patch clusters.cluster.x-k8s.io mgmt", movesAgain},
		"source paused by annotation": {holding(everything(), annotated), side{}, pivot.Interrupted,
			pivot.StagePaused, `"cluster.x-k8s.io/paused":null`, nil},
		"source paused by a person": {holding(everything(), byHand), side{}, pivot.Interrupted,
			pivot.StagePaused, "a person paused it", nil},
		"and a tenant, by a person": {holding(append(everything(), tenant()), paused, tenantPaused), side{},
			pivot.Interrupted, pivot.StagePaused, "patch clusters.cluster.x-k8s.io tenant", nil},
		"some copied, a person paused it": {holding(everything(), byHand), holding(firstOf(5), paused),
			pivot.Interrupted, pivot.StageCopying, "a person paused it", nil},
		"copied without its Cluster": {holding(everything(), paused),
			holding(fixture.One("Secret", "mgmt-ca"), paused), pivot.Interrupted, pivot.StagePaused, "", movesAgain},
		"some copied": {holding(everything(), paused), holding(firstOf(5), paused),
			pivot.Interrupted, pivot.StageCopying, "clusterctl move", movesAgain},
		"some copied, source resumed": {holding(everything()), holding(firstOf(5), paused), pivot.Interrupted,
			pivot.StageCopying, "clusterctl move", movesAgain},
		"all copied": {holding(everything(), paused), holding(everything(), paused),
			pivot.Interrupted, pivot.StageCopied, "/tmp/target.kubeconfig", movesAgain},
		"all but one copied": {holding(everything(), paused), holding(allBut(1), paused),
			pivot.Interrupted, pivot.StageCopying, "clusterctl move", movesAgain},
		"all but one copied, target active": {holding(everything(), paused), holding(allBut(1)), pivot.Interrupted,
			pivot.StageConflict, "Two clusters", nil},
		"one deleted, source resumed": {holding(allBut(1)), holding(everything(), paused), pivot.Interrupted,
			pivot.StageConflict, "Two clusters", nil},
		"some deleted": {holding(firstOf(5), paused), holding(everything(), paused),
			pivot.Interrupted, pivot.StageCopied, "/tmp/target.kubeconfig", finishes},
		"its Cluster deleted first": {holding(fixture.One("Secret", "cloud-credentials")),
			holding(everything(), paused), pivot.Interrupted, pivot.StageCopied, "/tmp/target.kubeconfig", finishes},
		"one left at the source, not copied": {holding(fixture.One("Secret", "cloud-credentials")),
			holding(without("Secret", "cloud-credentials"), paused), pivot.Interrupted, pivot.StageConflict,
			"Two clusters", nil},
		"one left at the source, resumed": {holding(fixture.One("Secret", "cloud-credentials")),
			holding(everything()), pivot.Done, pivot.StageNone, "", nil},
		"some deleted, source resumed": {holding(firstOf(5)), holding(everything(), paused), pivot.Interrupted,
			pivot.StageConflict, "Two clusters", nil},
		"half deleted, half copied": {holding(firstOf(5), paused),
			holding(append(firstOf(1), everything()[6:]...), paused), pivot.Interrupted, pivot.StageConflict,
			"Two clusters", nil},
		"one of two Clusters resumed": {holding(append(everything(), tenant()), tenantMoved),
			holding(append(everything(), tenant()), paused, tenantMoved), pivot.Interrupted, pivot.StageCopying,
			"clusterctl move", movesAgain},
		"some copied, beside an active tenant": {holding(everything(), paused),
			holding(append(firstOf(5), tenant()), paused), pivot.Interrupted, pivot.StageCopying, "clusterctl move",
			movesAgain},
		"source resumed, beside a tenant": {holding(everything()), holding(append(firstOf(5), tenant()), paused),
			pivot.Interrupted, pivot.StageCopying, "clusterctl move", movesAgain},
		"some copied, beside a Secret": {holding(everything(), paused),
			holding(append(firstOf(5), tenantSecret()), paused), pivot.Interrupted, pivot.StageCopying,
			"clusterctl move", movesAgain},
		"some copied, beside a paused tenant": {holding(everything(), paused),
			holding(append(firstOf(5), tenant()), paused, tenantPaused), pivot.Interrupted, pivot.StageConflict,
			"Two clusters", nil},
		"both active": {holding(everything()), holding(everything()), pivot.Interrupted,
			pivot.StageConflict, "Two clusters", nil},
		"some copied, target active": {holding(everything(), paused), holding(firstOf(5)), pivot.Interrupted,
			pivot.StageConflict, "Two clusters", nil},
		"all copied, one is going": {holding(everything(), paused,
			fixture.Set("Secret", "mgmt-ca", "", "metadata", "annotations",
				"clusterctl.cluster.x-k8s.io/delete-for-move")), holding(everything(), paused), pivot.Interrupted,
			pivot.StageCopied, "Do not resume", finishes},
		"all deleted, target paused by a move": {side{}, holding(everything(), paused), pivot.Interrupted,
			pivot.StageResuming, "To end it by hand", []pivot.Action{pivot.ActionCompare, pivot.ActionResume}},
		"all deleted, target paused": {side{}, holding(everything(), byHand), pivot.Interrupted,
			pivot.StageResuming, "/tmp/target.kubeconfig", nil},
		"done": {side{}, holding(everything()), pivot.Done, pivot.StageNone, "", nil},
		"done, paused remains at source": {holding(firstOf(5), paused), holding(everything()), pivot.Done,
			pivot.StageNone, "", nil},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			from, to := sides(t, row.from, row.to)
			state, err := pivot.ReadState(t.Context(), from, to, scope)
			if err != nil {
				t.Fatal(err)
			}
			if state.Phase != row.phase || state.Stage != row.stage {
				t.Fatalf("got %s %q, want %s %q", state.Phase, state.Stage, row.phase, row.stage)
			}
			var does []pivot.Action
			for _, step := range state.Recovery() {
				does = append(does, step.Action)
			}
			if !slices.Equal(does, row.does) {
				t.Errorf("it does %v, want %v", does, row.does)
			}
			failure := state.Err(from, to, scope)
			if (row.phase == pivot.Interrupted) != (failure != nil) {
				t.Fatalf("the error is %v in phase %s", failure, state.Phase)
			}
			if failure != nil && (fault.CodeOf(failure) != fault.PivotFailed || !strings.Contains(fault.HintOf(failure),
				row.hint)) {
				t.Errorf("code %s, hint\n%s\nwant it to hold %q", fault.CodeOf(failure), fault.HintOf(failure),
					row.hint)
			}
		})
	}
}

func TestReadStateWithoutASource(t *testing.T) {
	_, to := sides(t, side{}, holding(everything()))
	state, err := pivot.ReadState(t.Context(), clusters.Side{}, to, scope)
	if err != nil || state.Phase != pivot.Done {
		t.Errorf("got %s, %v, want done", state.Phase, err)
	}
}
