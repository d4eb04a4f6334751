//go:build integration

package install

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// finishesRemoval begins after a run that was killed before its proof. Another process recreates an object. No run
// removes the mark before the proof. The last run finishes a removal that has left only the namespace of Flux.
func finishesRemoval(ctx context.Context, t *testing.T, run *Run, newRemoval func() *Removal) {
	t.Helper()
	mark := func() *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: environment.Namespace,
			Name: environment.ValuesName}}
	}
	if exists, err := shared.Client.Exists(ctx, mark()); err != nil || !exists {
		t.Fatalf("the mark after a run that was killed before its proof: %t, %v", exists, err)
	}
	// all but the record in the mark is gone that knew of the component
	recreated := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "recreated",
		Labels: map[string]string{appliedByName: "second", appliedByNamespace: flux.Namespace}}}
	recreate := func() {
		t.Helper()
		recreated.ResourceVersion = ""
		err := shared.Client.Create(ctx, recreated, client.FieldOwner("kustomize-controller"))
		if err != nil {
			t.Fatal(err)
		}
	}
	recreate()
	removal := newRemoval()
	if err := removal.prove(ctx, &pipeline.Notes{}); fault.CodeOf(err) != fault.CleanupFailed ||
		!strings.Contains(err.Error(), "still in the cluster: ConfigMap default/recreated") {
		t.Errorf("the proof: %v", err)
	}
	fluxNamespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: flux.Namespace}}
	slow := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.org/slow"]}}`))
	if err := shared.Client.Patch(ctx, fluxNamespace, slow, client.FieldOwner(kube.FieldOwner)); err != nil {
		t.Fatal(err)
	}
	if err := remove(ctx, newRemoval(), run, "mark"); err == nil {
		t.Errorf("it ended before its namespace")
	}
	if exists, err := shared.Client.Exists(ctx, recreated); err != nil || exists {
		t.Errorf("what another process recreated: still there %t, %v", exists, err)
	}
	for exists := true; exists && ctx.Err() == nil; {
		var err error
		if exists, err = shared.Client.Exists(ctx, mark()); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := newRemoval().Plan(ctx); err != nil || p.Nothing {
		t.Errorf("only Flux's namespace is left, which is being deleted: %+v, %v", p, err)
	}
	shared.Patch(ctx, t, fluxNamespace, `{"metadata":{"finalizers":null}}`)
	if err := remove(ctx, newRemoval(), run, ""); err != nil {
		t.Fatal(err)
	}
}
