//go:build integration

package pivot_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// TestWhatClusterctlLeaves holds what a preview names against what is really left at the source after clusterctl's
// move, on two API servers.
func TestWhatClusterctlLeaves(t *testing.T) {
	for _, server := range []clusters.Side{{Client: servers.source.Client, Config: servers.source.Config},
		{Client: servers.target.Client, Config: servers.target.Config}} {
		options := envtest.CRDInstallOptions{CRDs: fixture.MoreDefinitions()}
		if _, err := envtest.InstallCRDs(server.Config, options); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { // the other tests of this package have the kinds of the modules alone
			if err := envtest.UninstallCRDs(server.Config, options); err != nil {
				t.Error(err)
			}
			for _, crd := range options.CRDs { // a move fails on a kind that is defined, and not served any more
				if err := apiserver.AwaitGone(context.WithoutCancel(t.Context()), server.Client, crd.Name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, seed := range seeds(t, 8) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { leaveForReal(t, seed) })
	}
}

func leaveForReal(t *testing.T, seed uint64) {
	ctx, scene := t.Context(), fixture.NewScene(seed)
	from := clusters.Side{Client: servers.source.Client, Config: servers.source.Config}
	to := clusters.Side{Client: servers.target.Client, Config: servers.target.Config}
	scope := clusters.Scope{Namespace: fmt.Sprintf("scene-%d", seed), Cluster: fixture.Cluster}
	defer func() {
		for _, side := range []clusters.Side{from, to} {
			if err := scene.Remove(ctx, side.Client); err != nil {
				t.Error(err)
			}
		}
	}()
	if err := scene.Create(ctx, from.Client, scope.Namespace); err != nil {
		t.Fatal(err)
	}
	if err := scene.CreateTarget(ctx, to.Client); err != nil {
		t.Fatal(err)
	}
	preview, err := pivot.NewPreview(ctx, from, to, scope, false)
	if err != nil {
		t.Fatalf("CLUSTER_INIT_TEST_SEED=%d: %v", seed, err)
	}
	holdAgainst(t, scene, preview)
	for _, r := range preview.Refusals {
		if r.Rule == pivot.RuleWebhooks || r.Rule == pivot.RulePermissions {
			t.Errorf("CLUSTER_INIT_TEST_SEED=%d: refused by the rule %s: %v", seed, r.Rule, r)
		}
	}
	if objects := heldIn(t, to.Client, scope.Namespace); len(objects) > 0 {
		t.Errorf("CLUSTER_INIT_TEST_SEED=%d: the preview has created %v", seed, objects)
	}
	if err := capi.Move(ctx, capi.MoveInput{From: from.Config, To: to.Config, Namespace: scope.Namespace}); err != nil {
		t.Fatalf("CLUSTER_INIT_TEST_SEED=%d: %v", seed, err)
	}
	var named, left []string
	for _, stay := range preview.Stays {
		if stay.Object.Namespace == scope.Namespace {
			named = append(named, stay.Object.Kind+" "+stay.Object.Name)
		}
	}
	left = heldIn(t, from.Client, scope.Namespace)
	slices.Sort(named)
	if !slices.Equal(named, left) {
		t.Errorf("CLUSTER_INIT_TEST_SEED=%d: clusterctl left\n%v\nthe preview named\n%v", seed, left, named)
	}
	var planned []string
	for _, o := range slices.Concat(preview.Groups...) {
		if o.Namespace == scope.Namespace {
			planned = append(planned, o.Kind+" "+o.Name)
		}
	}
	slices.Sort(planned)
	if arrived := heldIn(t, to.Client, scope.Namespace); !slices.Equal(planned, arrived) {
		t.Errorf("CLUSTER_INIT_TEST_SEED=%d: clusterctl created\n%v\nthe preview had\n%v", seed, arrived, planned)
	}
}

// inNamespace returns all that a namespace has of the kinds of scenes, labelled or not.
func heldIn(t *testing.T, c client.Client, namespace string) []string {
	t.Helper()
	kinds := []schema.GroupVersionKind{{Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ConfigMap"}}
	for _, crd := range fixture.SceneDefinitions() {
		if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
			kinds = append(kinds, schema.GroupVersionKind{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name,
				Kind: crd.Spec.Names.Kind})
		}
	}
	var names []string
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		for _, u := range list.Items {
			if u.GetName() != "kube-root-ca.crt" {
				names = append(names, u.GetKind()+" "+u.GetName())
			}
		}
	}
	slices.Sort(names)
	return names
}
