//go:build integration

package pivot_test

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// installFlux has a server serve the kinds of releases and sources.
func installFlux(server *rest.Config) error {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, gvk := range []schema.GroupVersionKind{fixture.ReleaseKind, fixture.KustomizationKind,
		{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepository"}} {
		crd, keep := fixture.CRDOf(gvk), true
		crd.Labels = nil
		crd.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}}
		crds = append(crds, crd)
	}
	_, err := envtest.InstallCRDs(server, envtest.CRDInstallOptions{CRDs: crds})
	return err
}

// addWorkload gives the source a workload cluster, shop, in a namespace of its own, and backs up both.
func (s *savedStage) addWorkload() (namespace string) {
	s.t.Helper()
	namespace = fmt.Sprintf("%.50s-shop", s.Scope.Namespace)
	must(s.t, fixture.Create(s.t.Context(), s.Source.Client, namespace, fixture.Named("shop")))
	login := shopRelease(namespace)[3] // a component names it
	login.SetName("git-login")
	login.SetLabels(nil)
	kept, err := pivot.Keeper{Dir: s.BackupDir, Version: "v1", Now: s.Now}.Keep(s.t.Context(), s.Source, s.Scope,
		pivot.Extent{Releases: shopRelease(namespace), Named: []*unstructured.Unstructured{login},
			Workloads: []backup.WorkloadCluster{{Namespace: namespace, Cluster: "shop",
				ManagedBy: s.Scope.Namespace + "/" + s.Scope.Cluster, Release: true}}})
	must(s.t, err)
	s.Path = kept.Path
	s.Backup, err = backup.Open(s.Path, backup.Identities{})
	must(s.t, err)
	return namespace
}

// shopRelease returns the release of the workload cluster shop, with its inputs.
func shopRelease(namespace string) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, each := range []struct {
		apiVersion, kind, name, field string
		content                       map[string]any
	}{
		{"helm.toolkit.fluxcd.io/v2", "HelmRelease", "shop", "spec", map[string]any{
			"chartRef": map[string]any{"kind": "OCIRepository", "name": "shop-chart"},
			"valuesFrom": []any{map[string]any{"kind": "ConfigMap", "name": "shop-values"},
				map[string]any{"kind": "Secret", "name": "shop-secrets"}}}},
		{"source.toolkit.fluxcd.io/v1", "OCIRepository", "shop-chart", "spec",
			map[string]any{"url": "oci://registry.example/x"}},
		{"v1", "ConfigMap", "shop-values", "data", map[string]any{"values.yaml": "a: 1"}},
		{"v1", "Secret", "shop-secrets", "data", map[string]any{"values.yaml": "aHVudGVyMg=="}},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{each.field: each.content}}
		u.SetAPIVersion(each.apiVersion)
		u.SetKind(each.kind)
		u.SetNamespace(namespace)
		u.SetName(each.name)
		u.SetLabels(map[string]string{"cluster-init.io/workload": "shop"})
		if each.kind == "Secret" {
			u.Object["type"] = "Opaque" // as an API server has it
		}
		all = append(all, u)
	}
	return all
}

// checkReleases holds what the target has of the releases in a backup against it.
func checkReleases(t *testing.T, b *backup.Backup, suspended bool) {
	t.Helper()
	for _, want := range b.Section(backup.Workload) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(want.GroupVersionKind())
		if err := servers.target.Client.Get(t.Context(), client.ObjectKeyFromObject(want), u); err != nil {
			t.Error(err)
			continue
		}
		is, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
		if flux := u.GroupVersionKind().Group != ""; is != (flux && suspended) {
			t.Errorf("%s %s is suspended: %t", u.GetKind(), u.GetName(), is)
		}
		unstructured.RemoveNestedField(u.Object, "spec", "suspend")
		delete(u.Object, "metadata")
		want = want.DeepCopy()
		delete(want.Object, "metadata")
		if !sameContent(want, u) {
			t.Errorf("%v is not as it was: %v", u.Object, want.Object)
		}
	}
}

// A workload cluster of another namespace goes from one real management cluster into another: its values, its
// definition, its release. While the former one still holds it, nothing is written.
func TestRestoreOfWorkloadClusters(t *testing.T) {
	s := newSavedStage(t, grown(), "")
	s.Verified = true
	namespace := s.addWorkload()
	s.lose(s.Scope.Namespace)
	_, err := restore.Run(t.Context(), s.Input)
	if fault.CodeOf(err) != fault.RestoreRefused || !strings.Contains(err.Error(), namespace+"/shop (active)") {
		t.Errorf("the former management cluster holds it: %v", err)
	}
	s.lose(namespace)
	foreign := shopRelease(namespace)[3]
	foreign.SetLabels(nil)
	must(t, fixture.Create(t.Context(), s.stage.Target.Client, namespace, []*unstructured.Unstructured{foreign}))
	_, err = restore.Run(t.Context(), s.Input)
	if fault.CodeOf(err) != fault.RestoreRefused || !strings.Contains(err.Error(), namespace+"/shop-secrets has another "+
		"label") {
		t.Errorf("a Secret of another owner: %v", err)
	}
	graph, err := capi.Discover(t.Context(), s.stage.Target.Client, namespace, s.Scope.Namespace)
	if err != nil || len(graph.Moves()) > 0 {
		t.Errorf("created: %v, %v", graph.Moves(), err)
	}
	must(t, s.stage.Target.Client.Delete(t.Context(), foreign))
	result, err := restore.Run(t.Context(), s.Input)
	if err != nil || len(result.Clusters) != 2 || len(result.Releases) != 5 || len(result.Warnings) > 0 {
		t.Fatalf("%+v, %v\n%s", result, err, strings.Join(s.lines, "\n"))
	}
	checkReleases(t, s.Backup, false)
	if again, err := restore.Run(t.Context(), s.Input); err != nil || !again.Already {
		t.Errorf("again: %+v, %v", again, err)
	}
	checkRestored(t, s.Backup)
}
