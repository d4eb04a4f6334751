//go:build integration

package install

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
)

// uninstalls runs last: it removes Flux from the shared server.
func uninstalls(ctx context.Context, t *testing.T) {
	go finalizeNamespaces(ctx)
	run, leased := newRun(ctx, t)
	newRemoval := func() *Removal {
		r := NewRemoval(RemovalOptions{Subject: run.Subject, Heartbeat: time.Minute,
			Cleaner: cleanup.Cleaner{Engine: &docker.Client{}, Patience: time.Minute}}, run.world.Parts)
		r.collection = 2 * time.Second
		return r
	}
	plan := func() (RemovalPlan, error) { return newRemoval().Plan(ctx) }
	refused := func(when string, code fault.Code, says string) {
		t.Helper()
		if _, err := plan(); fault.CodeOf(err) != code || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "nothing was deleted") {
			t.Errorf("%s: %v, want %q", when, err, says)
		}
	}
	release, err := flux.HelmRelease(flux.Release{})
	if err != nil {
		t.Fatal(err)
	}
	shared.Remove(ctx, t, release, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace,
		Name: environment.ValuesName}})
	refused("Flux without a release", fault.ClusterForeign, "a run of up or install is not finished")
	putRelease(ctx, leased, t, run)
	putOthers(ctx, t)
	run.world.Leases.ReleaseAll()

	other := newRemoval()
	other.Subject.Namespace = "elsewhere"
	if _, err := other.Plan(ctx); fault.CodeOf(err) != fault.ClusterForeign ||
		!strings.Contains(err.Error(), "is the management cluster "+run.Environment.SelfName()+", not elsewhere/") {
		t.Errorf("another environment: %v", err)
	}
	workloadCluster := fluxserver.NewCluster("default", "shop")
	shared.Create(ctx, t, workloadCluster)
	refused("a workload cluster", fault.CleanupRefused, "manages workload clusters: default/shop; nothing")
	shared.Remove(ctx, t, workloadCluster)
	dependent := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.org/v1", "kind": "Gadget",
		"metadata": map[string]any{"namespace": "default", "name": "theirs"}}}
	dependent.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "networking.k8s.io/v1", Kind: "Ingress",
		Name: "theirs", UID: "1"}})
	part := dependent.DeepCopy()
	part.SetName("part")
	ours := dependent.DeepCopy()
	ours.SetNamespace("gadgets")
	ours.SetName("ours")
	if exists, err := shared.Client.Exists(ctx, ours); err != nil || !exists {
		t.Fatalf("an object of a component: %t, %v", exists, err)
	}
	part.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.org/v1", Kind: "Gadget", Name: "ours",
		UID: ours.GetUID()}})
	shared.Create(ctx, t, dependent, part)
	go collectGarbage(ctx, part, ours)
	refused("an object of a kind that goes", fault.CleanupRefused, "Gadget default/theirs; nothing")
	shared.Remove(ctx, t, dependent)
	claim := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "gadgets", Name: "theirs"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
	shared.Create(ctx, t, claim)
	refused("what runs in a namespace that goes", fault.CleanupRefused, "Pod gadgets/theirs")
	if err := shared.Client.Delete(ctx, claim, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	refusesDependents(ctx, t, plan)

	p, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"cni", "second", "first"}; !slices.Equal(p.Components, want) || !p.Flux || p.Definitions < 5 ||
		!slices.Equal(p.Namespaces, []string{flux.Namespace, "gadgets"}) {
		t.Errorf("planned %+v, want components %v", p, want)
	}
	if all := strings.Join(p.Stays, "\n"); !strings.Contains(all, "component cni") || !strings.Contains(all,
		"Namespace before: it was there before install") ||
		!strings.Contains(all, "Namespace earlier: it was there before install") ||
		!strings.Contains(all, "Namespace inhabited: ConfigMap inhabited/notes of another owner is in it") ||
		!strings.Contains(all, "what component disabled applied, which the release no longer has: "+
			"ConfigMap default/orphan") {
		t.Errorf("stays: %q", p.Stays)
	}

	// it is interrupted in each phase, and run again
	for _, phase := range newRemoval().Phases() {
		if phase.Name == "mark" {
			break
		}
		_ = remove(ctx, newRemoval(), run, phase.Name)
	}
	finishesRemoval(ctx, t, run, newRemoval)
	gone := map[string]client.Object{"the mark": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: environment.Namespace, Name: environment.ValuesName}}}
	for _, name := range []string{flux.Namespace, "gadgets"} {
		gone["namespace "+name] = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for _, name := range []string{"gadgets.example.org", "helmreleases.helm.toolkit.fluxcd.io"} {
		crd := &unstructured.Unstructured{}
		crd.SetGroupVersionKind(crdKind())
		crd.SetName(name)
		gone[name] = crd
	}
	for what, o := range gone {
		if exists, err := shared.Client.Exists(ctx, o); err != nil || exists {
			t.Errorf("%s: still there %t, %v", what, exists, err)
		}
	}
	for what, o := range map[string]client.Object{
		"a namespace that was there before":    &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "before"}},
		"a namespace that only Flux manages":   &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "earlier"}},
		"a namespace with something of others": &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "inhabited"}},
		"what is in it": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "inhabited",
			Name: "notes"}},
		"a copy": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
			Name: "copy"}},
		"the network of the nodes": &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
			Name: "cni"}},
	} {
		if exists, err := shared.Client.Exists(ctx, o); err != nil || !exists {
			t.Errorf("%s: there %t, %v", what, exists, err)
		}
	}
	if p, err := plan(); err != nil || !p.Nothing {
		t.Errorf("afterwards: %+v, %v", p, err)
	}
}
