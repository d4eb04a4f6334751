package up

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// A pivot is undone only if it is known that it was finished, or that an earlier rollback was begun.
func TestCanReturn(t *testing.T) {
	answers := &kube.Cluster{}
	both := func(b clusters.BootstrapState, m clusters.ManagementState) clusters.Observation {
		return clusters.Observation{Bootstrap: clusters.BootstrapSide{State: b, Cluster: answers},
			Management: clusters.ManagementSide{State: m, Cluster: answers}}
	}
	for name, tc := range map[string]struct {
		o     clusters.Observation
		v     verdict
		begun bool
		hint  string // empty: it can be undone
	}{
		"finished": {o: both(clusters.BootstrapMoved, clusters.ManagementActive),
			v: verdict{decision: pivoted}},
		"a rollback was interrupted": {o: both(clusters.BootstrapPaused, clusters.ManagementPaused),
			v: verdict{decision: finish}, begun: true},
		"a rollback has moved all": {o: both(clusters.BootstrapActive, clusters.ManagementEmpty),
			v: verdict{decision: begun}, begun: true},
		"begun, and nothing was moved": {o: both(clusters.BootstrapActive, clusters.ManagementEmpty),
			v: verdict{decision: begun}, hint: "cluster-init up"},
		"interrupted": {o: both(clusters.BootstrapPaused, clusters.ManagementPaused),
			v: verdict{decision: finish}, hint: "pivot resume"},
		"not begun": {o: both(clusters.BootstrapActive, clusters.ManagementEmpty),
			v: verdict{decision: beforePivot}, hint: "cluster-init up"},
		"finished, and something is left": {o: both(clusters.BootstrapPaused, clusters.ManagementActive),
			v: verdict{decision: pivoted}, hint: "cluster-init up"},
		"the bootstrap cluster is new": {o: both(clusters.BootstrapEmpty, clusters.ManagementActive),
			v: verdict{decision: pivoted}, hint: "cluster-init up"},
		"no bootstrap cluster":                {o: clusters.Observation{Management: clusters.ManagementSide{State: clusters.ManagementActive, Cluster: answers}}, v: verdict{decision: pivoted}, hint: "Put right"},
		"no management cluster":               {o: clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapActive, Cluster: answers}}, v: verdict{decision: beforePivot}, hint: "cluster-init up"},
		"no bootstrap cluster, and one begun": {o: clusters.Observation{Management: clusters.ManagementSide{State: clusters.ManagementPaused, Cluster: answers}}, v: verdict{decision: finish}, begun: true, hint: "Put right"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkRollback(tc.o, tc.v, tc.begun, "demo")
			if (err == nil) != (tc.hint == "") || err != nil && (fault.CodeOf(err) != fault.PivotRefused ||
				!strings.Contains(fault.HintOf(err), tc.hint)) {
				t.Errorf("%v, hint %q, want %q", err, fault.HintOf(err), tc.hint)
			}
		})
	}
}

// A rollback that was killed is no pivot that could be resumed, however far it got. Resuming would move the definition
// into an unhealthy management cluster. If the management cluster still holds everything, there is nothing to begin.
func TestResumeBeginsNoPivotAfterARollback(t *testing.T) {
	for name, tc := range map[string]struct {
		b, m      clusters.BootstrapState
		rollback  bool
		decision  decision
		isRefused bool
	}{
		"a rollback has moved all":       {b: clusters.BootstrapActive, rollback: true, decision: begun, isRefused: true},
		"a rollback was interrupted":     {b: clusters.BootstrapPaused, rollback: true, decision: finish, isRefused: true},
		"a rollback suspended Flux only": {b: clusters.BootstrapMoved, rollback: true, decision: pivoted},
		"a pivot was begun":              {b: clusters.BootstrapActive, decision: begun},
		"a pivot was interrupted":        {b: clusters.BootstrapPaused, decision: finish},
	} {
		o := clusters.Observation{Bootstrap: clusters.BootstrapSide{State: tc.b},
			Management: clusters.ManagementSide{Suspended: tc.rollback}}
		err := leftByRollback(o, verdict{decision: tc.decision}, "demo")
		if (err != nil) != tc.isRefused || err != nil && (fault.CodeOf(err) != fault.PivotRefused ||
			!strings.Contains(fault.HintOf(err), "cluster-init pivot rollback demo")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Suspended Flux proves no rollback if the management cluster still has everything: its health is checked again.
func TestAStaleSuspensionIsNoBegunRollback(t *testing.T) {
	stale := seen(clusters.BootstrapMoved, clusters.ManagementActive)
	stale.Management.Suspended = true
	paused := seen(clusters.BootstrapMoved, clusters.ManagementPaused)
	paused.Management.Suspended = true
	moved := seen(clusters.BootstrapActive, clusters.ManagementEmpty)
	moved.Management.Suspended = true
	for name, tc := range map[string]struct {
		o    clusters.Observation
		want bool
	}{
		"nothing was moved": {stale, false}, "it is paused": {paused, true}, "all was moved": {moved, true},
		"none was begun": {seen(clusters.BootstrapMoved, clusters.ManagementActive), false},
	} {
		if got := rollbackBegun(tc.o, thisRun.scope()); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What a rollback has suspended does not count for the health of a cluster.
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

// An API server that does not answer does not keep a rollback that has moved everything.
func TestASilentBootstrapClusterEndsTheRollback(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := kustomizev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	silent := interceptor.Funcs{List: func(ctx context.Context, _ client.WithWatch, _ client.ObjectList,
		_ ...client.ListOption) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	bootstrap := &kube.Cluster{Name: "bootstrap",
		Client: fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(silent).Build()}
	synctest.Test(t, func(t *testing.T) {
		interrupted, interrupt := context.WithCancel(t.Context())
		interrupt() // it ends nothing: the definition was moved
		began := time.Now()
		err := resumeBootstrap(interrupted, bootstrap, thisRun.scope())
		if !errors.Is(err, context.DeadlineExceeded) || fault.CodeOf(err) != fault.PivotFailed ||
			time.Since(began) != resumeBound {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
