//go:build integration

package fluxserver

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// DefineCluster defines the kind Cluster, without a schema, as Cluster API's components do for clusterctl.
func (s Server) DefineCluster(ctx context.Context, t *testing.T) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "clusters.cluster.x-k8s.io",
		Labels: map[string]string{capi.MoveLabel: ""}}}
	crd.Spec.Group, crd.Spec.Scope = "cluster.x-k8s.io", apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Cluster", ListKind: "ClusterList",
		Plural: "clusters", Singular: "cluster"}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta2", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object", XPreserveUnknownFields: ptr.To(true)}}}}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		t.Fatal(err)
	}
	definition := &unstructured.Unstructured{Object: object}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	if err := s.Client.ApplyAll(ctx, definition); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Client.Delete(context.WithoutCancel(ctx), definition) })
	for ctx.Err() == nil {
		if _, err := capi.Clusters(ctx, s.Client, ""); err == nil &&
			s.Client.Create(ctx, NewCluster("default", "probe"), client.DryRunAll) == nil {
			return
		}
	}
	t.Fatal("the kind Cluster is not served")
}

// NewCluster is a Cluster as `up` has it made.
func NewCluster(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2",
		"kind": "Cluster",
		"metadata": map[string]any{"namespace": namespace, "name": name,
			"labels": map[string]any{owned.ClusterLabel: name}}, "spec": map[string]any{}}}
}

// KubeconfigSecret is the Secret that Cluster API stores with a Cluster.
func KubeconfigSecret(namespace, cluster string, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster + "-kubeconfig"},
		Data: map[string][]byte{"value": kubeconfig}}
}

// Namespaces creates namespaces. That of Flux is there already.
func (s Server) Namespaces(ctx context.Context, t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := s.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil &&
			name != flux.Namespace {
			t.Fatal(err)
		}
	}
}

// Create creates objects.
func (s Server) Create(ctx context.Context, t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := s.Client.Create(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
}

// Update updates an object.
func (s Server) Update(ctx context.Context, t *testing.T, o client.Object) {
	t.Helper()
	if err := s.Client.Update(ctx, o); err != nil {
		t.Fatal(err)
	}
}

// Patch merges a patch into an object.
func (s Server) Patch(ctx context.Context, t *testing.T, o client.Object, patch string) {
	t.Helper()
	if err := s.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// Remove deletes objects.
func (s Server) Remove(ctx context.Context, t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := s.Client.Delete(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
}
