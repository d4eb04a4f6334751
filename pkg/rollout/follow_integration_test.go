//go:build integration

package rollout

import (
	"context"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

func TestAwaitNudgesWhatIsUnblockedAndReachesItsGoal(t *testing.T) {
	s := newScene(t, "reaches")
	s.await(s.ctx, shared.Client, "first", "second")
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
	s.await(s.ctx, shared.Client, "running", "held")
	err := s.end()
	if fault.CodeOf(err) != fault.ComponentStuck ||
		!strings.Contains(err.Error(), "Kustomization/held in the bootstrap cluster is suspended") {
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
	s.await(ctx, shared.Client, "fine", "behind", "broken", "absent")
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
	proxy, err := apiserver.NewProxy(shared.Server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	kubeconfig, err := proxy.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect("bootstrap", kubeconfig, shared.Client.Scheme())
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

// A wait for an API server that is gone ends before the phase's bound, and blames no component.
func TestAwaitEndsWhenTheServerIsGone(t *testing.T) {
	for name, fails := range map[string]func(*apiserver.Proxy){"gone": (*apiserver.Proxy).Close,
		"hangs": (*apiserver.Proxy).Hang} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, name)
			proxy, c := proxied(t)
			s.create("first")
			f := Follower{cluster: c, heartbeat: time.Hour, silence: 2 * time.Second, resources: fluxResources()}
			go func() {
				s.done <- f.Await(s.ctx,
					Goal{What: "the components", Ready: []Key{{kustomizev1.KustomizationKind, s.namespace, "first"}}},
					s.ear)
			}()
			s.heard("first", func(o event.Object) bool { return o.Name == "first" })
			fails(proxy)
			err := s.end()
			if fault.CodeOf(err) != fault.ClusterUnreachable ||
				!strings.Contains(err.Error(), "the bootstrap cluster has not answered for ") ||
				!fault.CanRetry(err) {
				t.Fatalf("error %v", err)
			}
			if name == "hangs" && proxy.Asked() < 3 {
				t.Errorf("it was asked %d times: one question that hangs took the time of many", proxy.Asked())
			}
		})
	}
}

// A nudge only saves time: its failure is reported, and the wait continues.
func TestAwaitGoesOnAfterANudgeThatFails(t *testing.T) {
	s := newScene(t, "nudge")
	proxy, c := proxied(t)
	proxy.FailWrite(1)
	s.create("first")
	s.create("second", after("first"))
	s.await(s.ctx, c, "first", "second")
	s.heard("second, which waits for first", waitsFor("first"))
	s.ready("first")
	s.eventually("the failure is reported", func() bool { return s.ear.logged("nudge/second") })
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
		for _, o := range shared.Flux {
			got := o.DeepCopy()
			if err := shared.Client.Get(t.Context(), client.ObjectKeyFromObject(o), got); err != nil {
				t.Fatal(err)
			}
			found[got.GetKind()+"/"+got.GetName()] = got.GetResourceVersion()
		}
		return found
	}
	before := versions()
	if err := flux.Install(t.Context(), shared.Client, shared.Flux); err != nil {
		t.Fatal(err)
	}
	for name, version := range versions() {
		// The API server's own controller writes into these.
		if version != before[name] && !strings.HasPrefix(name, "ResourceQuota/") {
			t.Errorf("%s: resourceVersion %s became %s", name, before[name], version)
		}
	}
}

// What wakes a controller is seen by a watch, and leaves nothing in the object.
func TestWakeIsSeenAndLeavesNothing(t *testing.T) {
	s := newScene(t, "wakes")
	s.create("sleeps")
	before := s.get("sleeps")
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("kustomize.toolkit.fluxcd.io/v1")
	object.SetKind(kustomizev1.KustomizationKind)
	object.SetNamespace(before.Namespace)
	object.SetName(before.Name)
	if err := requestReconcile(s.ctx, shared.Client, object); err != nil {
		t.Fatal(err)
	}
	after := s.get("sleeps")
	if after.ResourceVersion == before.ResourceVersion || after.Generation != before.Generation ||
		len(after.Annotations) != len(before.Annotations) {
		t.Errorf("before %+v\nafter  %+v", before.ObjectMeta, after.ObjectMeta)
	}
}
