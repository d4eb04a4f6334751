//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
)

// forWorkload returns a component for workload clusters, in place of management clusters.
func forWorkload(component map[string]any) map[string]any {
	component["enabled"], component["namespaces"] = "workload-only", []string{"flux-system"}
	component["dependsOn"] = []string{"cluster"}
	return component
}

// componentsInWorkload makes a workload cluster with the components apps, charted and tenant, sees them in it and not
// in the management cluster, and deletes it.
func (l lab) componentsInWorkload(t *testing.T, values string) {
	t.Helper()
	in, own := []string{"--in", l.name}, workloadName+"/"+workloadName
	apply := append([]string{"workload", "apply"}, l.workloadDefinition("--values", values)...)
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	inside := l.hasReadyNode(t, own)
	for name, want := range map[string]string{"apps": "second", "charted": "first", "tenant": "first"} {
		if got := inside.text(t.Context(), name); got != want {
			t.Errorf("component %s has %q in the workload cluster, want %q", name, got, want)
		}
	}
	if got := l.management(t).text(t.Context(), "tenant"); got != "" {
		t.Errorf("the management cluster has the component tenant: %q", got)
	}
	l.deleteWorkload(t, own, in)
}

// workloadFromRepository makes a workload cluster from what `workload render` prints, committed to a folder of a
// repository that Flux applies as the component fleet. Removed from there, the cluster stays until it is deleted.
func (l lab) workloadFromRepository(t *testing.T, r repository, values string) {
	t.Helper()
	in, own, management := []string{"--in", l.name}, workloadName+"/"+workloadName, l.management(t)
	definition := l.workloadDefinition("--values", values)
	render := func(args ...string) []byte {
		printed, err := l.command(t.Context(), append(append([]string{"workload", "render"}, args...),
			definition...)...).Output()
		if err != nil {
			t.Fatalf("workload render: %v", err)
		}
		return printed
	}
	commit := func(resources string) {
		r.write(t, "fleet/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"+
			"resources: ["+resources+"]\n")
		management.applies(t, "apps", "fleet", r.push(t, "fleet: "+resources))
	}
	if err := management.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: workloadName}}); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	for _, o := range objectsOf(t, render("--secrets")) {
		if err := management.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o),
			client.FieldOwner("e2e")); err != nil {
			t.Fatal(err)
		}
	}
	r.write(t, "fleet/shop.yaml", string(render()))
	commit("text.yaml, shop.yaml")
	eventually(t, "the cluster of the repository is ready", 6*time.Minute, func(ctx context.Context) bool {
		out, err := l.command(ctx, append([]string{"workload", "status", own}, in...)...).Output()
		return err == nil && strings.Contains(string(out), own+": Ready")
	})
	l.hasReadyNode(t, own)
	if code, _ := l.run(t, append([]string{"workload", "apply"}, definition...)...); code != 30 {
		t.Errorf("apply of the cluster of the repository ended with %d", code)
	}
	commit("text.yaml")
	machines := len(containers(t, "io.x-k8s.kind.cluster="+workloadName))
	if code, out := l.run(t, append([]string{"workload", "status", own}, in...)...); code != 0 || machines == 0 {
		t.Errorf("removed from the repository, the cluster has the status %d and %d machines: %s", code, machines, out)
	}
	if code, _ := l.run(t, append([]string{"workload", "delete", own, "--yes"}, in...)...); code != 30 {
		t.Errorf("delete before the Kustomization is suspended ended with %d", code)
	}
	suspend := func(is bool) {
		k := object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", flux.Namespace, "fleet",
			map[string]any{"suspend": is})
		if err := management.Patch(t.Context(), k, client.Merge); err != nil {
			t.Fatal(err)
		}
	}
	suspend(true)
	l.deleteWorkload(t, own, in)
	suspend(false)
	management.deleteWorkloadNamespace(t)
}

// applies has Flux read a commit of a repository, and waits until a component of it was applied.
func (c cluster) applies(t *testing.T, repository, component, commit string) {
	t.Helper()
	if err := flux.RequestReconcile(t.Context(), c.Cluster, object("source.toolkit.fluxcd.io/v1", "GitRepository",
		flux.Namespace, repository, nil), time.Now()); err != nil {
		t.Fatal(err)
	}
	k := object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", flux.Namespace, component, nil)
	eventually(t, "Kustomization "+component+" has applied the commit", 6*time.Minute, func(ctx context.Context) bool {
		applied := ""
		if c.Get(ctx, client.ObjectKeyFromObject(k), k) == nil {
			applied, _, _ = unstructured.NestedString(k.Object, "status", "lastAppliedRevision")
		}
		return strings.HasSuffix(applied, commit)
	})
}
