package pivot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// interruptedWhilePausing begins a pivot that pauses the source and is interrupted before it copies anything.
func interruptedWhilePausing(t *testing.T, r *rehearsal) {
	t.Helper()
	move := r.Move
	r.Move = func(ctx context.Context, _ capi.MoveInput) error {
		patch := `{"metadata":{"annotations":{"cluster-init.io/pivot":"management/mgmt"}},"spec":{"paused":true}}`
		o := inNamespace(fixture.One("Cluster", "mgmt")[0])
		return errors.Join(r.Source.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch))),
			errors.New("interrupted"))
	}
	if _, err := pivot.Run(t.Context(), r.Input); fault.CodeOf(err) != fault.PivotFailed {
		t.Fatal(err)
	}
	r.Move, r.flux.stands, r.steps = move, true, nil
}

// A move that has copied nothing is repeated from its beginning, unless the source cannot be resumed or has lost
// something.
func TestAMoveThatCopiedNothingIsRepeated(t *testing.T) {
	for name, tc := range map[string]struct {
		world func(*testing.T, *rehearsal)
		steps []string
		says  string // in the error; empty: it ends well
	}{
		"as it was": {func(*testing.T, *rehearsal) {}, []string{"suspend", "move"}, ""},
		"Flux cannot be suspended": {func(_ *testing.T, r *rehearsal) {
			r.flux.suspendErr = errors.New("refused")
		}, []string{"suspend"}, "suspend Flux before the move: refused"},
		"the source cannot be resumed": {func(_ *testing.T, r *rehearsal) {
			patch := func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				return errors.New("read-only")
			}
			inner := r.Source.Client.(client.WithWatch)
			r.Source.Client = interceptor.NewClient(inner, interceptor.Funcs{Patch: patch})
		}, []string{"suspend"}, "resume the source of the interrupted move: "},
		"the source has lost something": {func(t *testing.T, r *rehearsal) {
			u := inNamespace(fixture.One("ConfigMap", "mgmt-load-balancer")[0])
			must(t, r.Source.Client.Delete(t.Context(), u))
		}, nil, "lacks ConfigMap management/mgmt-load-balancer"},
		"the source is not fit to move": {func(t *testing.T, r *rehearsal) {
			patchSource(t, r, "Cluster", "mgmt",
				`{"spec":{"topology":{"classRef":{"name":"x","namespace":"elsewhere"}}}}`)
		}, []string{"suspend"}, "ClusterClass"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			interruptedWhilePausing(t, r)
			tc.world(t, r)
			_, err := pivot.Run(t.Context(), r.Input)
			steps := slices.Compact(r.steps)
			if !slices.Equal(steps, tc.steps) {
				t.Errorf("it took the steps %v, want %v", steps, tc.steps)
			}
			if tc.says != "" {
				if err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("got %v, want %q", err, tc.says)
				}
				if hint := fault.HintOf(err); strings.Contains(hint, "\n\n") || strings.Contains(hint, "resume it:\nand") {
					t.Errorf("the hint has an instruction without a command: %s", hint)
				}
				return
			}
			state, stateErr := pivot.ReadState(t.Context(), r.Source, r.Target, scope)
			if err != nil || stateErr != nil || state.Phase != pivot.Done {
				t.Errorf("got %v, %v: it is %s", err, stateErr, state.Phase)
			}
			own := &unstructured.Unstructured{}
			own.SetGroupVersionKind(fixture.One("Cluster", "mgmt")[0].GroupVersionKind())
			must(t, r.Target.Client.Get(t.Context(), client.ObjectKey{Namespace: fixture.Namespace, Name: "mgmt"}, own))
			if paused, _, _ := unstructured.NestedBool(own.Object, "spec", "paused"); paused {
				t.Error("the Cluster is paused on the target")
			}
		})
	}
}
