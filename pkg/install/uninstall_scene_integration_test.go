//go:build integration

package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// putRelease creates what install and Flux would create: the network, a component, and a second one that depends on it.
func putRelease(ctx, leased context.Context, t *testing.T, run *Run) {
	t.Helper()
	shared.Namespaces(ctx, t, "before", "earlier")
	run.cluster = shared.Client
	if err := run.values(leased, &pipeline.Notes{}); err != nil {
		t.Fatal(err)
	}
	release := run.release()
	if _, err := release.Apply(ctx, run.cluster, clusters.Suspension(run.cluster, run.Scope), time.Now()); err != nil {
		t.Fatal(err)
	}
	shared.DefineCluster(ctx, t)
	putComponent(ctx, t, "first", true, "", append(providedObjects(),
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"gadgets"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"before"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"earlier"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"inhabited"}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`,
		`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"gadgets","namespace":"gadgets"}}`,
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"gadgets.example.org"},"spec":{"group":"example.org","scope":"Namespaced",
		"names":{"kind":"Gadget","listKind":"GadgetList","plural":"gadgets","singular":"gadget"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
		"x-kubernetes-preserve-unknown-fields":true}}}]}}`)...)
	putComponent(ctx, t, "second", true, "first",
		`{"apiVersion":"example.org/v1","kind":"Gadget","metadata":{"name":"ours","namespace":"gadgets"}}`)
	putComponent(ctx, t, "cni", false, "",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cni","namespace":"default"}}`)
}

// putOthers puts things of others where the release is, and does what the real kustomize-controller does: it forgets
// that kubectl has created a namespace.
func putOthers(ctx context.Context, t *testing.T) {
	t.Helper()
	earlier := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "earlier"}}
	if exists, err := shared.Client.Exists(ctx, earlier); err != nil || !exists {
		t.Fatalf("a namespace that was there before: %t, %v", exists, err)
	}
	earlier.ManagedFields = slices.DeleteFunc(earlier.ManagedFields, func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager != "kustomize-controller"
	})
	shared.Update(ctx, t, earlier)
	if earlier.ManagedFields == nil || !onlyManagedByUs(metadataOfNamespace(earlier)) {
		t.Fatalf("the namespace has other managers: %v", earlier.ManagedFields)
	}
	copied := map[string]string{appliedByName: "second", appliedByNamespace: flux.Namespace}
	removed := map[string]string{appliedByName: "disabled", appliedByNamespace: flux.Namespace}
	notes := func(namespace, name string, labels map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	}
	shared.Create(ctx, t, notes("inhabited", "notes", nil), notes("default", "copy", copied),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "gadgets", Name: "serving",
			Annotations: map[string]string{"cert-manager.io/certificate-name": "serving"}}})
	var namespaces corev1.NamespaceList
	if err := shared.Client.List(ctx, &namespaces); err != nil {
		t.Fatal(err)
	}
	for _, n := range namespaces.Items {
		if !strings.HasPrefix(n.Name, "kube-") { // a controller of others may make an object in each namespace
			shared.Create(ctx, t, notes(n.Name, "replicated", nil))
		}
	}
	orphan := notes("default", "orphan", removed)
	if err := shared.Client.Create(ctx, orphan, client.FieldOwner("kustomize-controller")); err != nil {
		t.Fatal(err)
	}
}

func metadataOfNamespace(n *corev1.Namespace) object {
	o := metadataOf(corev1.SchemeGroupVersion.WithKind("Namespace"))
	o.ObjectMeta = n.ObjectMeta
	return o
}

// putComponent creates a Kustomization of the release, and applies objects as Flux would for it.
func putComponent(ctx context.Context, t *testing.T, name string, prune bool, dependsOn string, objects ...string) {
	t.Helper()
	k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: name,
		Labels: rollout.ReleaseLabels()}}
	k.Labels[owned.ComponentLabel] = name
	k.Spec.Prune, k.Spec.Interval = prune, metav1.Duration{Duration: time.Minute}
	k.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: flux.ReleaseName}
	if dependsOn != "" {
		k.Spec.DependsOn = []kustomizev1.DependencyReference{{Name: dependsOn}}
	}
	if err := shared.Client.Create(ctx, k, client.FieldOwner("helm-controller")); err != nil {
		t.Fatal(err)
	}
	for _, text := range objects {
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		o.SetLabels(map[string]string{appliedByName: name, appliedByNamespace: flux.Namespace})
		apply := func() error {
			return shared.Client.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o),
				client.FieldOwner("kustomize-controller"), client.ForceOwnership)
		}
		err := apply()
		for ; err != nil && ctx.Err() == nil; err = apply() { // the kind may not be served yet
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// remove runs the phases. It stops right after the first deletion of a phase, if one is named.
func remove(ctx context.Context, r *Removal, run *Run, until string) error {
	leased, leases := lease.NewSet(ctx)
	defer leases.ReleaseAll()
	parts := run.world.Parts
	parts.Leases = leases
	r.world = clusters.New(r.Subject, parts)
	for _, p := range r.Phases() {
		if p.Name == "registry" {
			break // it needs an engine
		}
		phase, cancel := context.WithCancel(leased)
		var report pipeline.Reporter = &pipeline.Notes{}
		if p.Name == until {
			report = stopping{report, cancel}
		}
		err := p.Run(phase, report)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if p.Name == until {
			break
		}
	}
	return nil
}

// stopping is a reporter that interrupts a run when it begins to wait.
type stopping struct {
	pipeline.Reporter
	stop func()
}

func (s stopping) Waiting(string, []event.Object) { s.stop() }

// collectGarbage does what another one does: it deletes a part once its owner is gone.
func collectGarbage(ctx context.Context, part, owner *unstructured.Unstructured) {
	for exists := true; exists && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		if found, err := shared.Client.Exists(ctx, owner.DeepCopy()); err == nil {
			exists = found
		}
	}
	_ = shared.Client.Delete(ctx, part)
}

// finalizeNamespaces does what a controller of Kubernetes does, which the server lacks: it empties namespaces that are
// being deleted, and ends them.
func finalizeNamespaces(ctx context.Context) {
	clientset, err := kubernetes.NewForConfig(shared.Client.Config)
	for err == nil && ctx.Err() == nil {
		var all *corev1.NamespaceList
		if all, err = clientset.CoreV1().Namespaces().List(ctx, metav1.ListOptions{}); err != nil {
			return
		}
		for _, n := range all.Items {
			if n.DeletionTimestamp == nil {
				continue
			}
			for _, o := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
				_ = shared.Client.DeleteAllOf(ctx, o, client.InNamespace(n.Name))
			}
			n.Spec.Finalizers = nil
			_, _ = clientset.CoreV1().Namespaces().Finalize(ctx, &n, metav1.UpdateOptions{})
		}
		time.Sleep(200 * time.Millisecond)
	}
}
