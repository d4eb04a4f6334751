//go:build integration

package bootstrap

import (
	"context"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/e2e/apiserver"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

const waitBound = 20 * time.Second

// scene is one test's namespace, and a wait that runs beside the test.
type scene struct {
	t         *testing.T
	ctx       context.Context
	namespace string
	ear       *ear
	done      chan error
}

func newScene(t *testing.T, namespace string) *scene {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitBound)
	t.Cleanup(cancel)
	if err := shared.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, ctx: ctx, namespace: namespace, ear: newEar(), done: make(chan error, 1)}
}

// await starts to wait, as `up` does, for the Kustomizations of these names.
func (s *scene) await(ctx context.Context, through *kube.Cluster, names ...string) {
	g := goal{what: "the components"}
	for _, name := range names {
		g.ready = append(g.ready, key{kustomizev1.KustomizationKind, s.namespace, name})
	}
	u := &Up{Options: Options{Heartbeat: 100 * time.Millisecond}, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
	go func() { s.done <- u.follow(ctx, through, g, s.ear) }()
}

// end waits for the end of the wait.
func (s *scene) end() error {
	s.t.Helper()
	select {
	case err := <-s.done:
		return err
	case <-s.ctx.Done():
		s.t.Fatal("the wait does not end")
		return nil
	}
}

// heard waits until an object is reported that fits.
func (s *scene) heard(what string, fits func(event.Object) bool) {
	s.t.Helper()
	for {
		select {
		case o := <-s.ear.objects:
			if o.Namespace == s.namespace && fits(o) {
				return
			}
		case err := <-s.done:
			s.t.Fatalf("the wait ended before %s: %v", what, err)
		case <-s.ctx.Done():
			s.t.Fatalf("nothing was reported of %s", what)
		}
	}
}

func (s *scene) create(name string, edits ...func(*kustomizev1.KustomizationSpec)) {
	s.t.Helper()
	k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace},
		Spec: kustomizev1.KustomizationSpec{Interval: metav1.Duration{Duration: time.Minute},
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: flux.ReleaseName}}}
	for _, edit := range edits {
		edit(&k.Spec)
	}
	if err := shared.client.Create(s.ctx, k); err != nil {
		s.t.Fatal(err)
	}
}

func after(names ...string) func(*kustomizev1.KustomizationSpec) {
	return func(spec *kustomizev1.KustomizationSpec) {
		for _, name := range names {
			spec.DependsOn = append(spec.DependsOn, kustomizev1.DependencyReference{Name: name})
		}
	}
}

func (s *scene) get(name string) *kustomizev1.Kustomization {
	s.t.Helper()
	k := &kustomizev1.Kustomization{}
	if err := shared.client.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, k); err != nil {
		s.t.Fatal(err)
	}
	return k
}

// tell writes the Ready condition as Flux's controller would.
func (s *scene) tell(name string, status metav1.ConditionStatus, reason, message string) {
	s.t.Helper()
	k := s.get(name)
	before := k.DeepCopy()
	k.Status.ObservedGeneration = k.Generation
	apimeta.SetStatusCondition(&k.Status.Conditions, metav1.Condition{Type: fluxmeta.ReadyCondition, Status: status,
		Reason: reason, Message: message, ObservedGeneration: k.Generation})
	if err := shared.client.Status().Patch(s.ctx, k, client.MergeFrom(before)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) ready(name string) {
	s.t.Helper()
	s.tell(name, metav1.ConditionTrue, "ReconciliationSucceeded", "Applied revision: latest")
}

func (s *scene) nudged(name string) bool {
	return s.get(name).Annotations[fluxmeta.ReconcileRequestAnnotation] != ""
}

func (s *scene) eventually(what string, holds func() bool) {
	s.t.Helper()
	err := wait.PollUntilContextCancel(s.ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		s.t.Fatalf("not in time: %s", what)
	}
}

func waitsFor(name string) func(event.Object) bool {
	return func(o event.Object) bool { return strings.Join(o.WaitsFor, ",") == name }
}

func isReady(name string) func(event.Object) bool {
	return func(o event.Object) bool { return o.Name == name && o.State == kube.StateReady }
}

func TestAwaitNudgesWhatIsUnblockedAndReachesItsGoal(t *testing.T) {
	s := newScene(t, "reaches")
	s.await(s.ctx, shared.client, "first", "second")
	s.create("first")
	s.create("second", after("first"))
	s.heard("second, which waits for first", waitsFor("first"))
	s.tell("second", metav1.ConditionFalse, "DependencyNotReady", "dependency 'reaches/first' is not ready")
	s.heard("second's own message", func(o event.Object) bool { return o.Reason == "DependencyNotReady" })
	if s.nudged("second") || s.nudged("first") {
		t.Error("nudged before first is ready")
	}
	s.ready("first")
	s.eventually("second is asked to look again", func() bool { return s.nudged("second") })
	if s.nudged("first") {
		t.Error("first was nudged: it depends on nothing")
	}
	s.eventually("a heartbeat names second only", func() bool {
		s.ear.mu.Lock()
		defer s.ear.mu.Unlock()
		last := len(s.ear.waits) - 1
		return last >= 0 && len(s.ear.waits[last]) == 1 && s.ear.waits[last][0].Name == "second"
	})
	s.ready("second")
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
}

func TestAwaitFailsAtOnceOnASuspendedComponent(t *testing.T) {
	s := newScene(t, "suspends")
	s.create("running")
	s.create("held", func(spec *kustomizev1.KustomizationSpec) { spec.Suspend = true })
	s.await(s.ctx, shared.client, "running", "held")
	err := s.end()
	if fault.CodeOf(err) != fault.ComponentStuck || !strings.Contains(err.Error(), "Kustomization/held in the bootstrap cluster is suspended") {
		t.Fatalf("error %v", err)
	}
	if hint := fault.HintOf(err); !strings.Contains(hint, "kubectl -n suspends patch kustomization held") {
		t.Errorf("hint %q", hint)
	}
}

// deadline is a context whose deadline passes when the test says so.
type deadline struct {
	context.Context
	passed chan struct{}
}

func (d deadline) Done() <-chan struct{} { return d.passed }

func (d deadline) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestAwaitNamesWhatWasNotReadyInTime(t *testing.T) {
	s := newScene(t, "late")
	s.create("fine")
	s.create("broken")
	s.create("behind", after("broken"))
	s.ready("fine")
	s.tell("broken", metav1.ConditionFalse, "HealthCheckFailed", "Deployment capi-system/capi is InProgress")
	ctx := deadline{s.ctx, make(chan struct{})}
	s.await(ctx, shared.client, "fine", "behind", "broken", "absent")
	seen := map[string]bool{}
	s.heard("all three", func(o event.Object) bool { seen[o.Name] = true; return len(seen) == 3 })
	close(ctx.passed)
	err := s.end()
	if fault.CodeOf(err) != fault.ComponentStuck || !fault.CanRetry(err) {
		t.Errorf("code %q, retry %t", fault.CodeOf(err), fault.CanRetry(err))
	}
	for _, want := range []string{
		"Kustomization/broken is Progressing: Deployment capi-system/capi is InProgress",
		"Kustomization/behind is Progressing, waits for broken",
		"Kustomization/absent is Missing: does not exist yet",
		"deadline exceeded",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if strings.Contains(err.Error(), "fine") {
		t.Errorf("names what is ready: %v", err)
	}
}

// proxied returns a connection through a proxy that makes faults.
func proxied(t *testing.T) (*apiserver.Proxy, *kube.Cluster) {
	t.Helper()
	proxy, err := apiserver.NewProxy(shared.server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	kubeconfig, err := proxy.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	c, err := connect(bootstrapName, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return proxy, c
}

func TestAwaitSurvivesACutWatch(t *testing.T) {
	s := newScene(t, "cut")
	proxy, c := proxied(t)
	s.create("first")
	s.create("second")
	s.await(s.ctx, c, "first", "second")
	s.ready("first")
	s.heard("first", isReady("first"))
	before := proxy.Watches("kustomizations")
	proxy.CutWatches("kustomizations")
	s.ready("second")
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	if again := proxy.Watches("kustomizations"); before == 0 || again <= before {
		t.Errorf("%d watches before the cut and %d at the end: nothing was cut", before, again)
	}
}

// A nudge only saves time: that it fails is told, and the wait goes on.
func TestAwaitGoesOnAfterANudgeThatFails(t *testing.T) {
	s := newScene(t, "nudge")
	proxy, c := proxied(t)
	proxy.FailWrite(1)
	s.create("first")
	s.create("second", after("first"))
	s.await(s.ctx, c, "first", "second")
	s.heard("second, which waits for first", waitsFor("first"))
	s.ready("first")
	s.eventually("the failure is told", func() bool { return s.ear.logged("nudge/second") })
	s.ready("second")
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
}

// Installing Flux a second time, as every `up` may, changes no object.
func TestFluxInstallsTwice(t *testing.T) {
	versions := func() map[string]string {
		t.Helper()
		found := map[string]string{}
		for _, o := range shared.flux {
			got := o.DeepCopy()
			if err := shared.client.Get(t.Context(), client.ObjectKeyFromObject(o), got); err != nil {
				t.Fatal(err)
			}
			found[got.GetKind()+"/"+got.GetName()] = got.GetResourceVersion()
		}
		return found
	}
	before := versions()
	if err := flux.Install(t.Context(), shared.client, shared.flux); err != nil {
		t.Fatal(err)
	}
	for name, version := range versions() {
		// The API server's own controller writes into these.
		if version != before[name] && !strings.HasPrefix(name, "ResourceQuota/") {
			t.Errorf("%s: resourceVersion %s became %s", name, before[name], version)
		}
	}
}
