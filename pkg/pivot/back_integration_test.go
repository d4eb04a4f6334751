//go:build integration

package pivot_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// A finished pivot is moved back, and that is interrupted. Either direction can be run again: back finishes it, and
// forth undoes it. (One after the other: clusterctl has one logger for the whole process.)
func TestAMoveBackThatIsCutOff(t *testing.T) {
	for name, at := range map[string]struct {
		side, method string
		after        int64
	}{
		"creating": {"target", "POST", 20},
		"deleting": {"source", "DELETE", 3},
	} {
		for _, direction := range []string{"back", "forth"} {
			t.Run(name+" then "+direction, func(t *testing.T) {
				s := newStage(t)
				if _, err := pivot.Run(t.Context(), s.Input); err != nil {
					t.Fatal(err)
				}
				s.flux.stands = true
				s.reconciled(s.Target.Client)
				back := s.Input
				back.Source, back.Target, back.Back, back.Flux = s.Target, s.Source, true, &fakeFlux{}
				back.Move = cut(at.side, at.method, at.after)
				if _, err := pivot.Run(t.Context(), back); fault.CodeOf(err) != fault.PivotFailed {
					t.Fatalf("it was not interrupted: %v", err)
				}
				again, holder := s.Input, s.Target
				if direction == "back" {
					back.Flux, back.Move = &fakeFlux{stands: true}, capi.Move
					again, holder = back, s.Source
				}
				again.Patience = 20 * time.Second
				ended := make(chan struct{})
				reconciling := s.reconcile(ended)
				_, err := pivot.Run(t.Context(), again)
				close(ended)
				<-reconciling
				if err != nil {
					t.Fatal(err)
				}
				state, err := pivot.ReadState(t.Context(), again.Source, again.Target, s.Scope)
				if err != nil || state.Phase != pivot.Done || !state.Source.Empty() ||
					len(s.keys(holder.Client)) != len(fixture.ManagementCluster()) {
					t.Errorf("%s: %d objects on the other side, %v", state.Phase, len(state.Source.Objects), err)
				}
			})
		}
	}
}

// reconcile gives both sides, until ended, the status that controllers would give to what is not paused.
func (s *stage) reconcile(ended <-chan struct{}) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			case <-time.After(200 * time.Millisecond):
			}
			for _, c := range []client.Client{s.Source.Client, s.Target.Client} {
				s.reconciled(c)
			}
		}
	}()
	return done
}

func (s *stage) reconciled(c client.Client) {
	for _, u := range fixture.ManagementCluster() {
		status, has := u.Object["status"]
		if !has {
			continue
		}
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(u.GroupVersionKind())
		if c.Get(s.t.Context(), client.ObjectKey{Namespace: s.Scope.Namespace, Name: u.GetName()}, got) == nil &&
			got.Object["status"] == nil {
			got.Object["status"] = status
			_ = c.Status().Update(s.t.Context(), got) // it may just have gone
		}
	}
}
