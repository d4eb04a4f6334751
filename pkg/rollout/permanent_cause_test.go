package rollout

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// noFlavor keeps the component cluster from getting ready.
func noFlavor() Cause {
	return Cause{Rule: "openstack-flavor", Cluster: "bootstrap", Object: "OpenStackServer/management/m",
		Text: "no flavors were found: name=m1.nope", Remedy: "correct the flavor",
		Delays: []string{"Kustomization/flux-system/cluster", "Machine/management/m"}}
}

func TestConsider(t *testing.T) {
	waiting := []event.Object{{Cluster: "bootstrap", Kind: "Kustomization", Namespace: "flux-system", Name: "cluster"}}
	changed := func(change func(*Cause)) Cause {
		c := noFlavor()
		change(&c)
		return c
	}
	for name, tc := range map[string]struct {
		looks      [][]Cause // one each 30 s
		blocked    []event.Object
		tells, end int // number of the diagnosis that reports it, and of the one that ends the wait; -1: none
	}{
		"it stays": {slices.Repeat([][]Cause{{noFlavor()}}, 6), waiting, 1, 4},
		"it is gone in between": {[][]Cause{{noFlavor()}, {}, {noFlavor()}, {}, {noFlavor()}, {}}, waiting,
			-1, -1},
		"it comes back": {[][]Cause{{noFlavor()}, {noFlavor()}, {}, {noFlavor()}, {noFlavor()},
			{noFlavor()}, {noFlavor()}}, waiting, 1, -1},
		"another object each time": {[][]Cause{{changed(func(c *Cause) { c.Object += "1" })},
			{changed(func(c *Cause) { c.Object += "2" })}, {noFlavor()}, {noFlavor()}, {noFlavor()}, {noFlavor()}},
			waiting, 3, -1},
		"other words each time": {[][]Cause{{noFlavor()}, {changed(func(c *Cause) { c.Text += " for 40 s" })},
			{noFlavor()}, {noFlavor()}, {noFlavor()}}, waiting, 1, 4},
		"a Pod, which is tried again": {slices.Repeat(
			[][]Cause{{changed(func(c *Cause) { c.Object = "Pod/flux-system/p" })}}, 14), waiting, 1, 12},
		"no goal waits for it": {slices.Repeat([][]Cause{{noFlavor()}}, 6),
			[]event.Object{{Cluster: "bootstrap", Kind: "Kustomization", Namespace: "flux-system", Name: "other"}}, -1,
			-1},
		"one of the other cluster": {slices.Repeat([][]Cause{{noFlavor()}}, 6),
			[]event.Object{{Cluster: "management", Kind: "Kustomization", Namespace: "flux-system", Name: "cluster"}},
			-1, -1},
		"the object itself is waited for": {slices.Repeat(
			[][]Cause{{{Rule: "r", Cluster: "bootstrap", Object: "Node/n"}}}, 6),
			[]event.Object{{Cluster: "bootstrap", Kind: "Node", Name: "n"}}, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var d causeTracker
			told, ended := -1, -1
			for i, look := range tc.looks {
				tells, permanent := d.consider(look, time.Unix(0, 0).Add(time.Duration(i)*causesInterval), tc.blocked)
				if len(tells) > 0 && told < 0 {
					told = i
				}
				if permanent != nil && ended < 0 {
					ended = i
				}
			}
			if told != tc.tells || ended != tc.end {
				t.Errorf("reported by diagnosis %d and ended by diagnosis %d, want %d and %d", told, ended, tc.tells, tc.end)
			}
		})
	}
}

// A wait ends when its cause has persisted for a while. A patient one continues. A failed diagnosis changes nothing.
func TestAWaitThatCannotEndWellEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		patient bool
		failing bool // each second look
		wants   error
		after   time.Duration
	}{
		"at once":        {after: 5 * causesInterval},
		"patient":        {patient: true, wants: context.DeadlineExceeded, after: 10 * time.Minute},
		"half the looks": {failing: true, after: 5 * causesInterval},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				looks := 0
				f := Follower{heartbeat: time.Hour, now: time.Now, patient: tc.patient, causes: func(context.Context) (
					[]Cause, error) {
					if looks++; tc.failing && looks%2 == 0 {
						return nil, errors.New("no answer")
					}
					return []Cause{noFlavor()}, nil
				}}
				v, found, heard := newView("bootstrap", wanted("cluster")), make(chan []Cause), &warned{ear: newEar()}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				go f.lookForCauses(ctx, &v.progress, found)
				started := time.Now()
				err := f.loop(ctx, v, make(chan kube.Change), found, make(chan error, 1), heard)
				cancel()
				synctest.Wait()
				if tc.wants != nil {
					if !errors.Is(err, tc.wants) {
						t.Errorf("ended with %v", err)
					}
				} else if fault.CodeOf(err) != fault.ComponentStuck ||
					!strings.Contains(err.Error(), "no flavors were found") ||
					!strings.Contains(fault.HintOf(err), "correct the flavor. ") {
					t.Errorf("ended with %v", err)
				}
				if took := time.Since(started); took != tc.after || len(heard.warnings) != 1 {
					t.Errorf("ended after %s, with the warnings %q", took, heard.warnings)
				}
			})
		})
	}
}

// While objects become ready, two of three diagnoses are left out. Once nothing moves, each is made.
func TestNoDiagnosisIsMadeWhileThingsMoveOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		started := time.Now()
		f := Follower{causes: func(context.Context) ([]Cause, error) {
			at = append(at, time.Since(started))
			return nil, nil
		}}
		v, found := newView("bootstrap", wanted("cluster")), make(chan []Cause)
		ctx, cancel := context.WithTimeout(t.Context(), 8*causesInterval-time.Second)
		defer cancel()
		go func() {
			for {
				select {
				case <-found:
				case <-ctx.Done():
					return
				}
			}
		}()
		go func() { // one object becomes ready in each of the first four intervals
			for i := range 4 {
				time.Sleep(causesInterval/2 + min(time.Duration(i), 1)*causesInterval/2)
				v.take(kube.Change{Object: kustomization(time.Now().Format("150405"), ready("True", 2))})
			}
		}()
		f.lookForCauses(ctx, &v.progress, found)
		want := []time.Duration{3 * causesInterval, 5 * causesInterval, 6 * causesInterval, 7 * causesInterval}
		if !slices.Equal(at, want) {
			t.Errorf("diagnoses after %v, want %v", at, want)
		}
	})
}

type warned struct {
	*ear
	warnings []string
}

func (w *warned) Warn(format string, _ ...any) { w.warnings = append(w.warnings, format) }
