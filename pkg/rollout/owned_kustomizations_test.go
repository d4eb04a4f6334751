package rollout

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// The chart may come from Git and make other components than this program knows: what counts is known when the
// HelmRelease is ready.
func TestGoalsAreWhatTheReleaseMade(t *testing.T) {
	is := map[bool]string{true: "True", false: "False"}
	component := func(name string, isReady bool) *unstructured.Unstructured {
		return kustomization(name, ready(is[isReady], 2))
	}
	release := func(isReady bool) *unstructured.Unstructured {
		o := component(releaseKey().Name, isReady)
		o.SetAPIVersion("helm.toolkit.fluxcd.io/v2")
		o.SetKind(releaseKey().Kind)
		o.SetNamespace(releaseKey().Namespace)
		return o
	}
	a := wanted("a").Ready
	cases := map[string]struct {
		objects []*unstructured.Unstructured
		made    []Key
		err     error
		asked   bool
		reached bool
		fails   fault.Code
	}{
		"the HelmRelease is not there yet": {objects: []*unstructured.Unstructured{component("a", true)},
			made: a},
		"the HelmRelease is not ready yet": {objects: []*unstructured.Unstructured{release(false),
			component("a", true)}, made: a},
		"what it made is ready": {objects: []*unstructured.Unstructured{release(true),
			component("a", true)}, made: a, asked: true, reached: true},
		"what it made was not seen yet": {objects: []*unstructured.Unstructured{release(true)}, made: a,
			asked: true},
		"what it made is not ready": {objects: []*unstructured.Unstructured{release(true),
			component("a", false)}, made: a, asked: true},
		"not known what it made": {objects: []*unstructured.Unstructured{release(true),
			component("a", true)}, err: errors.New("i/o timeout"), asked: true},
		"it made nothing": {objects: []*unstructured.Unstructured{release(true)},
			err: fault.New(fault.ComponentStuck, "no Kustomization", ""), asked: true, fails: fault.ComponentStuck},
		"another Kustomization than it made waits": {objects: []*unstructured.Unstructured{release(true),
			component("a", true), component("b", false)}, made: a, asked: true, reached: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := false
			v := newView("bootstrap", Goal{Ready: []Key{releaseKey()}, Made: func(context.Context) (map[Key]string, error) {
				asked = true
				keys := map[Key]string{}
				for _, key := range tc.made {
					keys[key] = ""
				}
				return keys, tc.err
			}})
			for _, o := range tc.objects {
				v.take(kube.Change{Object: o})
			}
			err := Follower{}.discover(t.Context(), v)
			if fault.CodeOf(err) != tc.fails && (err != nil || tc.fails != "") {
				t.Errorf("error %v, want code %q", err, tc.fails)
			}
			if asked != tc.asked || v.reached() != tc.reached {
				t.Errorf("asked %t, reached %t, want %t, %t (HelmRelease %s)", asked, v.reached(), tc.asked, tc.reached,
					v.states[releaseKey()].State)
			}
		})
	}
}
