package rollout

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// kustomization is one as Flux would have it; the options change it.
func kustomization(name string, options ...func(map[string]any)) *unstructured.Unstructured {
	o := map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": name, "namespace": "flux-system", "generation": int64(2)},
		"spec":     map[string]any{"sourceRef": map[string]any{"kind": "OCIRepository", "name": "telco-cloud-init"}},
		"status":   map[string]any{},
	}
	for _, option := range options {
		option(o)
	}
	return &unstructured.Unstructured{Object: o}
}

// cluster is a Cluster that calls itself Available, with as many machines of each sort.
func cluster(desired, ready, current, all int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
		"metadata": map[string]any{"name": "c", "namespace": "management", "generation": int64(1)},
		"status": map[string]any{
			"controlPlane": map[string]any{"desiredReplicas": desired, "readyReplicas": ready,
				"upToDateReplicas": current, "replicas": all},
			"conditions": []any{map[string]any{"type": "Available", "status": "True",
				"observedGeneration": int64(1)}},
		},
	}}
}

// workers is a Cluster that calls itself Available. It has the two workers that it wants; one is up to date.
func workers(ready int64) *unstructured.Unstructured {
	c := cluster(2, ready, 1, 2)
	status := c.Object["status"].(map[string]any)
	status["workers"] = status["controlPlane"]
	delete(status, "controlPlane")
	return c
}

// deployment is the Cluster's.
func deployment(strategy string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment",
		"metadata": map[string]any{"name": "workers", "namespace": "management", "generation": int64(1)},
		"spec": map[string]any{"clusterName": "c",
			"rollout": map[string]any{"strategy": map[string]any{"type": strategy}}},
	}}
}

func paused(u *unstructured.Unstructured) *unstructured.Unstructured {
	u.SetAnnotations(map[string]string{"cluster.x-k8s.io/paused": ""})
	return u
}

// machine is one of a Cluster.
func machine(cluster, name, ready string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
		"metadata": map[string]any{"name": name, "namespace": "management", "generation": int64(1)},
		"spec":     map[string]any{"clusterName": cluster},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": ready, "message": "its node is not there", "observedGeneration": int64(1)}}},
	}}
}

func ready(status string, generation int64) func(map[string]any) {
	return func(o map[string]any) {
		o["status"].(map[string]any)["conditions"] = []any{map[string]any{
			"type": "Ready", "status": status, "reason": "Reason", "message": "its own message",
			"observedGeneration": generation}}
	}
}

func revision(r string) func(map[string]any) {
	return func(o map[string]any) { o["status"].(map[string]any)["lastAppliedRevision"] = r }
}

func dependsOn(names ...string) func(map[string]any) {
	return func(o map[string]any) {
		var list []any
		for _, n := range names {
			list = append(list, map[string]any{"name": n})
		}
		o["spec"].(map[string]any)["dependsOn"] = list
	}
}

// ofTheRelease marks an object as helm-controller does.
func ofTheRelease(o map[string]any) {
	o["metadata"].(map[string]any)["labels"] = map[string]any{madeByName: flux.ReleaseName,
		madeByNamespace: flux.Namespace}
}

func suspended(o map[string]any) { o["spec"].(map[string]any)["suspend"] = true }

func stalled(o map[string]any) {
	o["status"].(map[string]any)["conditions"] = []any{map[string]any{
		"type": "Stalled", "status": "True", "reason": "InvalidPath", "message": "there is no such path"}}
}

func wanted(names ...string) Goal {
	g := Goal{What: "the components"}
	for _, n := range names {
		g.Ready = append(g.Ready, Key{"Kustomization", "flux-system", n})
	}
	return g
}

// A Cluster is judged again when its old workers begin or cease to wait for a manual step: it may not change itself.
func TestClustersAreCountedAgain(t *testing.T) {
	v := newView("management", Goal{Ready: []Key{{"Cluster", "management", "c"}}})
	byHand := deployment("OnDelete")
	for _, step := range []struct {
		change kube.Change
		want   string
	}{
		{kube.Change{Object: workers(2)}, ""},
		{kube.Change{Object: byHand}, "Ready"},
		{kube.Change{Object: byHand}, ""},
		{kube.Change{Object: byHand, Deleted: true}, "Progressing"},
	} {
		v.take(step.change)
		got := ""
		for _, o := range v.countAgain(step.change) {
			got += o.State
		}
		if got != step.want {
			t.Errorf("after %s: %q, want %q", step.change.Object.GetKind(), got, step.want)
		}
	}
}

func TestViewJudgesTheGoal(t *testing.T) {
	tests := map[string]struct {
		goal          Goal
		objects       []*unstructured.Unstructured
		reached       bool
		unlisted      bool   // which Machines there are is not known
		unrecoverable string // part of the error
		blocked       string // part of what is said about the first one that blocks
	}{
		"nothing there yet": {goal: wanted("a"), blocked: "does not exist yet"},
		"ready": {goal: wanted("a"),
			objects: []*unstructured.Unstructured{kustomization("a", ready("True", 2))}, reached: true},
		"ready, but of an older generation": {goal: wanted("a"),
			objects: []*unstructured.Unstructured{kustomization("a", ready("True", 1))}, blocked: "its own message"},
		"one of two": {goal: wanted("a", "b"),
			objects: []*unstructured.Unstructured{kustomization("a", ready("True", 2))}, blocked: "does not exist yet"},
		"suspended fails at once": {goal: wanted("a"),
			objects: []*unstructured.Unstructured{kustomization("a", suspended)}, unrecoverable: "is suspended",
			blocked: "is suspended"},
		"stalled fails at once": {goal: wanted("a"),
			objects: []*unstructured.Unstructured{kustomization("a", stalled)}, unrecoverable: "there is no such path",
			blocked: "there is no such path"},
		"of an older revision": {
			goal:    Goal{Ready: wanted("a").Ready, Revision: "sha256:new"},
			objects: []*unstructured.Unstructured{kustomization("a", ready("True", 2), revision("latest@sha256:old"))},
			blocked: "not yet the current revision"},
		"of the present revision": {
			goal:    Goal{Ready: wanted("a").Ready, Revision: "sha256:new"},
			objects: []*unstructured.Unstructured{kustomization("a", ready("True", 2), revision("latest@sha256:new"))},
			reached: true},
		"a Cluster of which machines are missing": {
			goal:    Goal{Ready: []Key{{"Cluster", "management", "c"}}},
			blocked: "controlPlane: 1 of 3 machines are ready",
			objects: []*unstructured.Unstructured{cluster(3, 1, 1, 1)}},
		"a Cluster with old workers": {
			goal:    Goal{Ready: []Key{{"Cluster", "management", "c"}}},
			blocked: "workers: 1 of 2 machines are up to date",
			objects: []*unstructured.Unstructured{workers(2), deployment("RollingUpdate")}},
		"a Cluster with old workers that the user deletes": {
			goal:    Goal{Ready: []Key{{"Cluster", "management", "c"}}},
			objects: []*unstructured.Unstructured{workers(2), deployment("OnDelete")}, reached: true},
		"those are made all the same": {
			goal: Goal{Ready: []Key{{"Cluster", "management", "c"}}}, blocked: "workers: 1 of 2 machines are ready",
			objects: []*unstructured.Unstructured{workers(1), deployment("OnDelete")}},
		"one that was paused before its Cluster came": {
			goal:    Goal{Ready: []Key{{"Cluster", "management", "c"}}},
			objects: []*unstructured.Unstructured{paused(deployment("RollingUpdate")), workers(2)},
			reached: true},
		"old control planes and workers that the user deletes": {
			goal:    Goal{Ready: []Key{{"Cluster", "management", "c"}}},
			blocked: "controlPlane: 1 of 3 machines are up to date",
			objects: []*unstructured.Unstructured{cluster(3, 3, 1, 3), deployment("OnDelete")}},
		"a Cluster with all its machines": {
			goal: Goal{Ready: []Key{{"Cluster", "management", "c"}}}, reached: true,
			objects: []*unstructured.Unstructured{cluster(3, 3, 3, 3)}},
		"a Cluster one of whose machines has no node yet": {
			goal: Goal{Ready: []Key{{"Cluster", "management", "c"}}}, blocked: "its node is not there",
			objects: []*unstructured.Unstructured{cluster(3, 3, 3, 3), machine("c", "a", "True"),
				machine("c", "b", "False")}},
		"a Cluster whose machines are not known yet": {
			goal: Goal{Ready: []Key{{"Cluster", "management", "c"}}}, unlisted: true,
			objects: []*unstructured.Unstructured{cluster(3, 3, 3, 3)}},
		"two Clusters": {
			goal: Goal{Ready: []Key{{"Cluster", "management", "c"}}}, reached: true,
			objects: []*unstructured.Unstructured{cluster(3, 3, 3, 3), machine("c", "a", "True"),
				machine("d", "b", "False")}},
		"a Cluster with machines of an older definition": {
			goal:    Goal{Ready: []Key{{"Cluster", "management", "c"}}},
			blocked: "controlPlane: 1 of 3 machines are up to date",
			objects: []*unstructured.Unstructured{cluster(3, 4, 1, 4)}},
		"a Cluster whose replaced machine is still there": {
			goal:    Goal{Ready: []Key{{"Cluster", "management", "c"}}},
			blocked: "controlPlane: 4 machines exist, 3 are desired",
			objects: []*unstructured.Unstructured{cluster(3, 4, 3, 4)}},
		"has not handled the request": {
			goal:    Goal{Ready: wanted("a").Ready, Handled: map[Key]string{wanted("a").Ready[0]: "token"}},
			objects: []*unstructured.Unstructured{kustomization("a", ready("True", 2))}, blocked: "has not handled"},
		"gave up before it handled the request": {
			goal:    Goal{Ready: wanted("a").Ready, Handled: map[Key]string{wanted("a").Ready[0]: "token"}},
			objects: []*unstructured.Unstructured{kustomization("a", stalled)}, blocked: "has not handled"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := newView("bootstrap", tc.goal)
			for _, o := range tc.objects {
				v.take(kube.Change{Object: o})
				v.countAgain(kube.Change{Object: o})
			}
			if !tc.unlisted {
				v.take(kube.Change{Listed: resource("cluster.x-k8s.io", "v1beta2", "machines")})
			}
			if v.reached() != tc.reached {
				t.Errorf("reached %t, want %t", v.reached(), tc.reached)
			}
			if err := v.unrecoverable(); (err == nil) != (tc.unrecoverable == "") || err != nil &&
				!strings.Contains(err.Error(), tc.unrecoverable) {
				t.Errorf("unrecoverable: %v, want %q", err, tc.unrecoverable)
			}
			if tc.blocked != "" {
				blocked := v.blocked()
				if len(blocked) == 0 || !strings.Contains(blocked[0].Message, tc.blocked) {
					t.Errorf("blocked %v, want %q", blocked, tc.blocked)
				}
			}
		})
	}
}

// Once the goals are ready, a heartbeat names machines, and never a user's own Flux objects.
func TestNobodyWaitsForAUsersOwn(t *testing.T) {
	v := newView("bootstrap", Goal{What: "it", Ready: wanted("a").Ready,
		Until: func(context.Context) bool { return false }})
	for _, o := range []*unstructured.Unstructured{kustomization("a", ready("True", 2)),
		kustomization("tenant", ready("False", 2)), machine("c", "m", "False")} {
		v.take(kube.Change{Object: o})
	}
	if blocked := v.blocked(); len(blocked) != 1 || blocked[0].Name != "m" {
		t.Errorf("blocked: %v", blocked)
	}
	if err := v.unfinished(errors.New("time is over")); strings.Contains(err.Error(), "tenant") ||
		!strings.Contains(err.Error(), "Machine/m") {
		t.Error(err)
	}
}

func TestViewFindsWhatIsUnblockedOnce(t *testing.T) {
	v := newView("bootstrap", wanted("a", "b", "c"))
	names := func() []string {
		var found []string
		for _, o := range v.unblocked() {
			found = append(found, o.GetName())
		}
		slices.Sort(found)
		return found
	}
	v.take(kube.Change{Object: kustomization("b", dependsOn("a"))})
	v.take(kube.Change{Object: kustomization("c", dependsOn("a", "b"))})
	if got := names(); len(got) != 0 {
		t.Fatalf("%v are unblocked before a is there", got)
	}
	v.take(kube.Change{Object: kustomization("a", ready("True", 2))})
	if got := names(); !slices.Equal(got, []string{"b"}) {
		t.Fatalf("unblocked %v, want b: c waits for b", got)
	}
	if got := names(); len(got) != 0 {
		t.Fatalf("unblocked %v a second time", got)
	}
	v.take(kube.Change{Object: kustomization("b", dependsOn("a"), ready("True", 2))})
	if got := names(); !slices.Equal(got, []string{"c"}) {
		t.Fatalf("unblocked %v, want c", got)
	}
}

func TestViewSaysOnceWhatChanged(t *testing.T) {
	v := newView("bootstrap", wanted("a", "b"))
	b := kustomization("b", dependsOn("a"), ready("False", 2))
	changed, object := v.take(kube.Change{Object: b})
	if !changed || !slices.Equal(object.WaitsFor, []string{"a"}) {
		t.Errorf("changed %t, waits for %v", changed, object.WaitsFor)
	}
	if changed, _ := v.take(kube.Change{Object: b}); changed {
		t.Error("the same state is news twice")
	}
	v.take(kube.Change{Object: kustomization("a", ready("True", 2))})
	if changed, object := v.take(kube.Change{Object: b}); !changed || len(object.WaitsFor) != 0 {
		t.Errorf("a is ready: changed %t, waits for %v", changed, object.WaitsFor)
	}
	if changed, object := v.take(kube.Change{Object: b, Deleted: true}); !changed || object.State != "Deleted" ||
		v.reached() {
		t.Errorf("deleted: changed %t, state %s", changed, object.State)
	}
}

func TestUnfinishedNamesWhatIsStuck(t *testing.T) {
	v := newView("bootstrap", wanted("a", "b"))
	v.take(kube.Change{Object: kustomization("a", ready("False", 2))})
	v.take(kube.Change{Object: kustomization("b", dependsOn("a"), ready("False", 2))})
	err := v.unfinished(context.DeadlineExceeded)
	if fault.CodeOf(err) != fault.ComponentStuck || !fault.CanRetry(err) {
		t.Errorf("code %q, retry %t", fault.CodeOf(err), fault.CanRetry(err))
	}
	for _, want := range []string{"Kustomization/a is Progressing: its own message",
		"Kustomization/b is Progressing, waits for a"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

func TestOnlyControlPlanesThatWaitAreWoken(t *testing.T) {
	v := newView("bootstrap", Goal{})
	controlPlane := func(name, ready string, edits ...func(*unstructured.Unstructured)) {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "RKE2ControlPlane",
			"metadata": map[string]any{"name": name, "namespace": "management"},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready,
				"reason": "WaitingForRKE2Server"}}}}}
		for _, edit := range edits {
			edit(o)
		}
		v.take(kube.Change{Object: o})
	}
	controlPlane("waits", "False")
	controlPlane("ready", "True")
	controlPlane("paused", "False", func(o *unstructured.Unstructured) {
		o.SetAnnotations(
			map[string]string{"cluster.x-k8s.io/paused": ""})
	})
	controlPlane("going", "False", func(o *unstructured.Unstructured) {
		now := metav1.Now()
		o.SetDeletionTimestamp(
			&now)
	})
	v.take(kube.Change{Object: kustomization("waits-too", ready("False", 1))})
	var names []string
	for _, o := range v.waitingControlPlanes() {
		names = append(names, o.GetName())
	}
	if !slices.Equal(names, []string{"waits"}) {
		t.Errorf("woken: %v", names)
	}
}

// People read the same messages in the same order in each run.
func TestMessagesHaveOneOrder(t *testing.T) {
	for range 20 {
		v := newView("bootstrap", wanted("d", "c", "b", "a"))
		for _, name := range []string{"c", "d", "b", "a"} {
			v.take(kube.Change{Object: kustomization(name, stalled, dependsOn("ready"))})
			v.take(kube.Change{Object: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "controlplane.cluster.x-k8s.io/v1beta1", "kind": "RKE2ControlPlane",
				"metadata": map[string]any{"name": name, "namespace": "management"}}}})
		}
		v.take(kube.Change{Object: kustomization("ready", ready("True", 2))})
		if err := v.unrecoverable(); err == nil || !strings.HasPrefix(err.Error(), "Kustomization/a ") {
			t.Fatal(err)
		}
		for what, list := range map[string][]*unstructured.Unstructured{"unblocked": v.unblocked(),
			"control planes": v.waitingControlPlanes()} {
			var names []string
			for _, o := range list {
				names = append(names, o.GetName())
			}
			if !slices.Equal(names, []string{"a", "b", "c", "d"}) {
				t.Fatalf("%s: %v", what, names)
			}
		}
	}
}

// Clusters whose machines have changed are reported by name.
func TestClustersAreCountedInOneOrder(t *testing.T) {
	for range 20 {
		v := newView("management", Goal{})
		for _, name := range []string{"d", "c", "b", "a"} {
			v.take(kube.Change{Object: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
				"metadata": map[string]any{"namespace": "management", "name": name}}}})
			key := Key{"Cluster", "management", name}
			state := v.states[key]
			state.Message = "of before"
			v.states[key] = state
		}
		var names []string
		for _, o := range v.countAgain(kube.Change{Object: machine("c", "m", "False")}) {
			names = append(names, o.Name)
		}
		if !slices.Equal(names, []string{"a", "b", "c", "d"}) {
			t.Fatal(names)
		}
	}
}

// A namespace may hold several workload clusters: a wait for one of them neither reports nor depends on another's.
func TestAWaitIsForOneClusterOfANamespace(t *testing.T) {
	for name, owns := range map[string]bool{"its own": true, "another's": false} {
		o := machine("c", "m", "False")
		v := newView("management", Goal{Ready: []Key{{"HelmRelease", o.GetNamespace(), "shop"}},
			Owns: func(client.Object) bool { return owns }})
		reported, _ := v.take(kube.Change{Object: o})
		key := Key{"Machine", o.GetNamespace(), o.GetName()}
		if reported != owns || v.blocksGoal(key) != owns {
			t.Errorf("%s: reported %v, waited for %v", name, reported, v.blocksGoal(key))
		}
	}
}
