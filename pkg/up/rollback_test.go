package up

import (
	"errors"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
)

// A pivot is undone only where it is known that it was finished, or that an earlier rollback was begun.
func TestCanReturn(t *testing.T) {
	answers := &kube.Cluster{}
	both := func(b world.BootstrapState, m world.ManagementState) world.Observation {
		return world.Observation{Bootstrap: world.BootstrapSide{State: b, Cluster: answers},
			Management: world.ManagementSide{State: m, Cluster: answers}}
	}
	for name, tc := range map[string]struct {
		o     world.Observation
		v     verdict
		begun bool
		hint  string // "": it can
	}{
		"finished": {o: both(world.BootstrapMoved, world.ManagementActive),
			v: verdict{decision: pivoted}},
		"a rollback was interrupted": {o: both(world.BootstrapPaused, world.ManagementPaused),
			v: verdict{decision: finish}, begun: true},
		"a rollback has moved all": {o: both(world.BootstrapActive, world.ManagementEmpty),
			v: verdict{decision: begun}, begun: true},
		"begun, and nothing was moved": {o: both(world.BootstrapActive, world.ManagementEmpty),
			v: verdict{decision: begun}, hint: "cluster-init up"},
		"interrupted": {o: both(world.BootstrapPaused, world.ManagementPaused),
			v: verdict{decision: finish}, hint: "pivot resume"},
		"not begun": {o: both(world.BootstrapActive, world.ManagementEmpty),
			v: verdict{decision: goOn}, hint: "cluster-init up"},
		"finished, and something is left": {o: both(world.BootstrapPaused, world.ManagementActive),
			v: verdict{decision: pivoted}, hint: "cluster-init up"},
		"the bootstrap cluster is new": {o: both(world.BootstrapEmpty, world.ManagementActive),
			v: verdict{decision: pivoted}, hint: "cluster-init up"},
		"no bootstrap cluster":                {o: world.Observation{Management: world.ManagementSide{State: world.ManagementActive, Cluster: answers}}, v: verdict{decision: pivoted}, hint: "Put right"},
		"no management cluster":               {o: world.Observation{Bootstrap: world.BootstrapSide{State: world.BootstrapActive, Cluster: answers}}, v: verdict{decision: goOn}, hint: "cluster-init up"},
		"no bootstrap cluster, and one begun": {o: world.Observation{Management: world.ManagementSide{State: world.ManagementPaused, Cluster: answers}}, v: verdict{decision: finish}, begun: true, hint: "Put right"},
	} {
		t.Run(name, func(t *testing.T) {
			err := canReturn(tc.o, tc.v, tc.begun, "demo")
			if (err == nil) != (tc.hint == "") || err != nil && (fault.CodeOf(err) != fault.PivotRefused ||
				!strings.Contains(fault.HintOf(err), tc.hint)) {
				t.Errorf("%v, hint %q, want %q", err, fault.HintOf(err), tc.hint)
			}
		})
	}
}

// A rollback that was killed is no pivot that could be resumed, however far it came: resuming would move the definition
// into a management cluster that is not well. Where the management cluster still holds all of it there is nothing to
// begin.
func TestResumeBeginsNoPivotAfterARollback(t *testing.T) {
	for name, tc := range map[string]struct {
		b, m      world.BootstrapState
		rollback  bool
		decision  decision
		isRefused bool
	}{
		"a rollback has moved all":       {b: world.BootstrapActive, rollback: true, decision: begun, isRefused: true},
		"a rollback was interrupted":     {b: world.BootstrapPaused, rollback: true, decision: finish, isRefused: true},
		"a rollback suspended Flux only": {b: world.BootstrapMoved, rollback: true, decision: pivoted},
		"a pivot was begun":              {b: world.BootstrapActive, decision: begun},
		"a pivot was interrupted":        {b: world.BootstrapPaused, decision: finish},
	} {
		o := world.Observation{Bootstrap: world.BootstrapSide{State: tc.b},
			Management: world.ManagementSide{Suspended: tc.rollback}}
		err := leftByRollback(o, verdict{decision: tc.decision}, "demo")
		if (err != nil) != tc.isRefused || err != nil && (fault.CodeOf(err) != fault.PivotRefused ||
			!strings.Contains(fault.HintOf(err), "cluster-init pivot rollback demo")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// That Flux is suspended for a rollback says nothing once the management cluster still has everything: it is asked
// again how well it is.
func TestAStaleSuspensionIsNoBegunRollback(t *testing.T) {
	stale := seen(world.BootstrapMoved, world.ManagementActive)
	stale.Management.Suspended = true
	paused := seen(world.BootstrapMoved, world.ManagementPaused)
	paused.Management.Suspended = true
	moved := seen(world.BootstrapActive, world.ManagementEmpty)
	moved.Management.Suspended = true
	for name, tc := range map[string]struct {
		o    world.Observation
		want bool
	}{
		"nothing was moved": {stale, false}, "it is paused": {paused, true}, "all was moved": {moved, true},
		"none was begun": {seen(world.BootstrapMoved, world.ManagementActive), false},
	} {
		if got := returning(tc.o, thisRun.scope()); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What a rollback has suspended says nothing of how well a cluster is.
func TestWhatARollbackSuspendedIsNotAsked(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(kustomizev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	of := func(name, suspendedFor string, suspended bool) *kustomizev1.Kustomization {
		return &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: name,
			Annotations: map[string]string{"cluster-init.io/suspended-for-pivot": suspendedFor}},
			Spec: kustomizev1.KustomizationSpec{Suspend: suspended}}
	}
	c := &kube.Cluster{Name: "management", Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		of("cluster", "ns/demo", true), of("cni", "ns/other", true), of("mine", "", true),
		of("capi", "", false)).Build()}
	left, suspended, err := unsuspended(t.Context(), c, thisRun.scope())
	var names []string
	for _, key := range left {
		names = append(names, key.Name)
	}
	if got := strings.Join(names, " "); err != nil || !suspended || got != "capi cni mine" {
		t.Errorf("%q, %t, %v", got, suspended, err)
	}
}
