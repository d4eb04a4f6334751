//go:build integration

package up

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	awsprovider "github.com/cluster-init/cluster-init/pkg/provider/aws"
)

// TestObserve reads one real API server as a bootstrap cluster and as a management cluster. Its Cluster is made and changed as a pivot, a
// user and a stranger would.
func TestObserve(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(), Sets: []string{"cluster.namespace=observed"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	u := &world{Options: Options{Environment: env, StateFolder: dir, KubeconfigPath: filepath.Join(dir, "kubeconfig")}}
	bootstrap := func() string { return string(u.readBootstrap(ctx, shared.Client).state) }
	management := func(proven bool) string {
		return string(u.readManagement(ctx, candidate{named: "FILE", kubeconfig: shared.Kubeconfig(), proven: proven}, shared.Client).state)
	}
	expect := func(when string, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	expect("without Cluster API", bootstrap(), "empty")
	expect("without Cluster API", management(true), "empty")
	expect("without Cluster API, and nobody knows whose it is", management(false), "foreign")

	clusterKind(ctx, t)
	namespaces(ctx, t, "observed", "flux-system", "elsewhere")
	cluster := newCluster("observed", env.ClusterName())
	create(ctx, t, cluster)
	expect("the Cluster is there", bootstrap(), "active")
	expect("the Cluster is there, without a kubeconfig", management(true), "active")
	expect("the Cluster is there, without a kubeconfig, and nobody knows whose it is", management(false), "foreign")

	secret := kubeconfigSecret("observed", env.ClusterName(), kubeconfigOf(t, "another", "https://192.0.2.1"))
	create(ctx, t, secret)
	expect("the Cluster is that of another cluster", management(true), "foreign")
	secret.Data["value"] = shared.Kubeconfig()
	update(ctx, t, secret)
	expect("the Cluster is its own", management(false), "active")
	if got := u.readBootstrap(ctx, shared.Client).kubeconfig; !kube.SameCluster(got, shared.Kubeconfig()) {
		t.Errorf("the kubeconfig in the bootstrap cluster is %q", got)
	}

	patch(ctx, t, cluster, `{"spec":{"paused":true}}`)
	expect("the Cluster is paused", bootstrap(), "paused")
	expect("the Cluster is paused", management(false), "paused")

	remove(ctx, t, cluster, secret)
	expect("the Cluster is gone", bootstrap(), "empty")
	kustomization := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Name: "observed", Namespace: flux.Namespace}, Spec: kustomizev1.KustomizationSpec{Suspend: true,
		Interval: metav1.Duration{Duration: time.Minute}, SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: flux.ReleaseName}}}
	create(ctx, t, kustomization)
	expect("a user suspended something", bootstrap(), "empty")
	patch(ctx, t, kustomization, fmt.Sprintf(`{"metadata":{"annotations":{%q:"other/cluster"}}}`, owned.SuspendedAnnotation))
	expect("another cluster's pivot suspended it", bootstrap(), "empty")
	patch(ctx, t, kustomization, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, owned.SuspendedAnnotation, "observed/"+env.ClusterName()))
	expect("a pivot suspended it", bootstrap(), "moved")

	stranger := newCluster("elsewhere", env.ClusterName())
	stranger.SetLabels(nil)
	create(ctx, t, stranger)
	expect("a stranger's Cluster of the name is in another namespace", bootstrap(), "moved")
	remove(ctx, t, stranger)
	own := newCluster("observed", env.ClusterName())
	own.SetLabels(nil)
	create(ctx, t, own)
	expect("a stranger's Cluster has our name and namespace", bootstrap(), "foreign")
	remove(ctx, t, own)

	create(ctx, t, newCluster("elsewhere", env.ClusterName()))
	for where, seen := range map[string]error{"bootstrap": u.readBootstrap(ctx, shared.Client).err, "management": u.readManagement(ctx, candidate{named: "FILE", proven: true}, shared.Client).err} {
		if fault.CodeOf(seen) != fault.ClusterForeign || !strings.Contains(fault.HintOf(seen), "--set cluster.namespace=elsewhere") {
			t.Errorf("%s cluster with a Cluster of the name in another namespace: %v", where, seen)
		}
	}
	t.Run("the look of each phase", func(t *testing.T) { phaseLooks(ctx, t, env) })
	t.Run("a backup of it", func(t *testing.T) { backUpLiving(ctx, t, env) })
	t.Run("a server that does not answer in time, or refuses, is not an empty one", func(t *testing.T) {
		ended, end := context.WithCancel(ctx)
		end()
		nobody, err := kube.Connect(bootstrapName, kubeconfigOf(t, "", shared.Client.Config.Host), runtime.NewScheme())
		if err != nil {
			t.Fatal(err)
		}
		for name, side := range map[string]bootstrapSide{"too late": u.readBootstrap(ended, shared.Client), "not allowed": u.readBootstrap(ctx, nobody)} {
			if side.state != bootstrapSilent || side.err == nil || side.cluster != nil {
				t.Errorf("%s: %s (%v)", name, side.state, side.err)
			}
		}
		side := u.readManagement(ended, candidate{named: "FILE", kubeconfig: shared.Kubeconfig(), proven: true}, shared.Client)
		if side.state != managementSilent || side.err == nil {
			t.Errorf("management cluster: %s (%v)", side.state, side.err)
		}
	})
}

// phaseLooks asks whether the pivot is done, as phases do, of a management cluster alone.
func phaseLooks(ctx context.Context, t *testing.T, env *environment.Environment) {
	w := &world{Options: Options{Environment: env, StateFolder: t.TempDir(), KubeconfigPath: "FILE"}, Parts: Parts{Now: time.Now, Provider: awsprovider.Provider{}}}
	expect := func(when string, want decision, code fault.Code) {
		t.Helper()
		if got, err := w.progress(ctx); got != want || fault.CodeOf(err) != code && (err != nil || code != "") {
			t.Errorf("%s: %s, %v", when, got, err)
		}
	}
	expect("no management cluster", goOn, "")
	w.management = shared.Client
	expect("the Cluster is in another namespace", refuse, fault.ClusterForeign)
	remove(ctx, t, newCluster("elsewhere", env.ClusterName()))
	expect("nobody holds it", refuse, fault.PivotFailed)
	cluster, secret := newCluster("observed", env.ClusterName()), kubeconfigSecret("observed", env.ClusterName(), shared.Kubeconfig())
	create(ctx, t, cluster)
	create(ctx, t, secret)
	expect("the management cluster holds it", pivoted, "")
	w.bootstrap = shared.Client
	expect("both hold it", refuse, fault.PivotFailed)
	w.bootstrap = nil
	patch(ctx, t, cluster, `{"spec":{"paused":true}}`)
	expect("it is paused", refuse, fault.PivotFailed)
	remove(ctx, t, cluster, secret)
	nobody, err := kube.Connect(managementName, kubeconfigOf(t, "", shared.Client.Config.Host), runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	w.management = nobody
	expect("it does not say", refuse, fault.ClusterUnreachable)
}

// clusterKind defines the kind Cluster, without a schema, as Cluster API's components do for clusterctl.
func clusterKind(ctx context.Context, t *testing.T) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "clusters.cluster.x-k8s.io", Labels: map[string]string{capi.MoveLabel: ""}}}
	crd.Spec.Group, crd.Spec.Scope = "cluster.x-k8s.io", apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Cluster", ListKind: "ClusterList", Plural: "clusters", Singular: "cluster"}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1beta2", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}}}}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		t.Fatal(err)
	}
	definition := &unstructured.Unstructured{Object: object}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	if err := shared.Client.ApplyAll(ctx, definition); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shared.Client.Delete(context.WithoutCancel(ctx), definition) })
	for ctx.Err() == nil {
		if _, err := capi.Clusters(ctx, shared.Client, ""); err == nil && shared.Client.Create(ctx, newCluster("default", "probe"), client.DryRunAll) == nil {
			return
		}
	}
	t.Fatal("the kind Cluster is not served")
}

func newCluster(namespace, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
		"metadata": map[string]any{"namespace": namespace, "name": name, "labels": map[string]any{owned.ClusterLabel: name}}, "spec": map[string]any{}}}
}

func kubeconfigSecret(namespace, cluster string, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster + "-kubeconfig"}, Data: map[string][]byte{"value": kubeconfig}}
}

func namespaces(ctx context.Context, t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := shared.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil && name != flux.Namespace {
			t.Fatal(err)
		}
	}
}

func create(ctx context.Context, t *testing.T, o client.Object) {
	t.Helper()
	if err := shared.Client.Create(ctx, o); err != nil {
		t.Fatal(err)
	}
}

func update(ctx context.Context, t *testing.T, o client.Object) {
	t.Helper()
	if err := shared.Client.Update(ctx, o); err != nil {
		t.Fatal(err)
	}
}

func patch(ctx context.Context, t *testing.T, o client.Object, patch string) {
	t.Helper()
	if err := shared.Client.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

func remove(ctx context.Context, t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := shared.Client.Delete(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
}
