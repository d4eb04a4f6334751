//go:build integration

package install

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

func adopts(ctx context.Context, t *testing.T) {
	without, _ := newRun(ctx, t)
	if _, err := AdoptedValues(without.Environment, []string{"cert-manager", "capi",
		"flux"}); fault.CodeOf(err) != fault.Usage ||
		!strings.Contains(err.Error(), "capi") || !strings.Contains(err.Error(), "flux") {
		t.Errorf("components that fit only their own release: %v", err)
	}
	sets, err := AdoptedValues(without.Environment, []string{"cert-manager"})
	if err != nil {
		t.Fatal(err)
	}
	run, ctx := newRun(ctx, t, sets...)
	run.cluster = shared.Client
	components, err := run.Environment.Components(environment.Management)
	isCertManager := func(c environment.Component) bool { return c.Name == certManager }
	if err != nil || slices.ContainsFunc(components, isCertManager) {
		t.Errorf("components: %v, %v", components, err)
	}
	notes := &pipeline.Notes{}
	refused := func(when string, code fault.Code, says string) {
		t.Helper()
		if err := run.checkAdopted(ctx, notes); fault.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s, %q", when, err, code, says)
		}
	}
	refused("there is none", fault.ComponentUnknown, "the cluster has no cert-manager")
	define(ctx, t, "certificates", "Certificate", "v1alpha2")
	define(ctx, t, "issuers", "Issuer", "v1")
	refused("it is old", fault.ClusterForeign, "does not serve cert-manager.io/v1")
	define(ctx, t, "certificates", "Certificate", "v1")
	refused("nothing runs", fault.ComponentStuck, "no available Deployment has the labels")
	labels := map[string]string{"app.kubernetes.io/name": "cert-manager", "app.kubernetes.io/component": "controller",
		"app.kubernetes.io/version": "v1.2.3"}
	running := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "theirs", Labels: labels},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}}}
	shared.Create(ctx, t, running)
	defer shared.Remove(ctx, t, running)
	running.Status = appsv1.DeploymentStatus{Replicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
	if err := shared.Client.Status().Update(ctx, running); err != nil {
		t.Fatal(err)
	}
	err = run.checkAdopted(ctx, notes)
	for ; err != nil && ctx.Err() == nil; err = run.checkAdopted(ctx, notes) { // the kind may not be served yet
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil || !strings.Contains(strings.Join(notes.Seen, "\n"), "using the cert-manager v1.2.3") {
		t.Errorf("it works: %v, %v", err, notes.Seen)
	}
	if err := run.checkForeign(ctx); err != nil {
		t.Errorf("it is not taken for a component of another owner: %v", err)
	}
	stored, err := run.Environment.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.ApplyAll(ctx, stored.Values); err != nil {
		t.Fatal(err)
	}
	defer shared.Remove(ctx, t, stored.Values)
	later, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Variables: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	if later, err = rollout.Applied(ctx, shared.Client, later); err != nil {
		t.Fatalf("other commands do not know that it is used: %v", err)
	}
	differ, err := later.Changes(stored)
	if err != nil || len(differ) > 0 {
		t.Errorf("other commands find other values: %v, %v", differ, err)
	}
}

// define defines a kind of cert-manager with one version.
func define(ctx context.Context, t *testing.T, plural, kind, version string) {
	t.Helper()
	singular := strings.ToLower(kind)
	crd := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1",
		"kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + ".cert-manager.io"},
		"spec": map[string]any{"group": "cert-manager.io", "scope": "Namespaced",
			"names": map[string]any{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": singular},
			"versions": []any{map[string]any{"name": version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object",
					"x-kubernetes-preserve-unknown-fields": true}}}}}}}
	_ = shared.Client.Delete(ctx, crd.DeepCopy())
	err := shared.Client.Create(ctx, crd.DeepCopy())
	for ; err != nil && ctx.Err() == nil; err = shared.Client.Create(ctx, crd.DeepCopy()) {
		time.Sleep(100 * time.Millisecond) // the one before is not gone yet
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // while it exists, install refuses the cluster
		ctx := context.WithoutCancel(ctx)
		_ = shared.Client.Delete(ctx, crd.DeepCopy())
		if err := apiserver.AwaitGone(ctx, shared.Client, crd.GetName()); err != nil {
			t.Error(err)
		}
	})
}
