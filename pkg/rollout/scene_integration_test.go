//go:build integration

package rollout

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

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

const waitBound = 20 * time.Second

// scene is one test's namespace, and a wait that runs in the background of the test.
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
	if err := shared.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	return &scene{t: t, ctx: ctx, namespace: namespace, ear: newEar(), done: make(chan error, 1)}
}

// await starts to wait, as `up` does, for the Kustomizations of these names.
func (s *scene) await(ctx context.Context, through *kube.Cluster, names ...string) {
	g := Goal{What: "the components"}
	for _, name := range names {
		g.Ready = append(g.Ready, Key{kustomizev1.KustomizationKind, s.namespace, name})
	}
	f := NewFollower(through, Options{Heartbeat: 100 * time.Millisecond,
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }})
	go func() { s.done <- f.Await(ctx, g, s.ear) }()
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
	if err := shared.Client.Create(s.ctx, k); err != nil {
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
	if err := shared.Client.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, k); err != nil {
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
	if err := shared.Client.Status().Patch(s.ctx, k, client.MergeFrom(before)); err != nil {
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
	err := wait.PollUntilContextCancel(s.ctx, 20*time.Millisecond, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		s.t.Fatalf("not in time: %s", what)
	}
}

func waitsFor(name string) func(event.Object) bool {
	return func(o event.Object) bool { return strings.Join(o.WaitsFor, ",") == name }
}

func isReady(name string) func(event.Object) bool {
	return func(o event.Object) bool { return o.Name == name && o.State == health.Ready }
}
