//go:build integration

package environment_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// status returns the state and the revision of the release.
func (h *helm) status() (string, int) {
	h.t.Helper()
	var release struct {
		Version int
		Info    struct{ Status string }
	}
	if err := json.Unmarshal([]byte(h.run("status", "telco-cloud-init", "--output", "json")), &release); err != nil {
		h.t.Fatal(err)
	}
	return release.Info.Status, release.Version
}

// The chart on an existing cluster that runs Flux, as docs/guides/environment.md says: no bootstrap, no pivot, no
// cluster-init.
func TestPlainHelmInstallsTheChart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // a cold build of helm is most of it
	defer cancel()
	server, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	cluster := withFlux(ctx, t, server)
	h := newHelm(ctx, t)
	h.kubeconfig = filepath.Join(h.home, "kubeconfig")
	if err := os.WriteFile(h.kubeconfig, server.Kubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	chart := chartOnDisk(t)
	source := []string{"--set", "source.spec.url=https://git.example.org/platform.git", "--set",
		"source.spec.interval=5m",
		"--set", "source.spec.ref.branch=main"}

	h.run(append([]string{"install", "telco-cloud-init", chart}, source...)...)
	if state, revision := h.status(); state != "deployed" || revision != 1 {
		t.Errorf("installed: %s at revision %d", state, revision)
	}
	if got, want := kustomizations(ctx, t, cluster), []string{"cabpk", "capi", "cert-manager"}; !slices.Equal(
		got, want) {
		t.Errorf("Kustomizations %q, want %q", got, want)
	}
	git := object("source.toolkit.fluxcd.io/v1", "GitRepository", "telco-cloud-init")
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(git), git); err != nil {
		t.Fatal(err)
	}
	if url, _, _ := unstructured.NestedString(git.Object, "spec",
		"url"); url != "https://git.example.org/platform.git" {
		t.Errorf("the source has url %q", url)
	}

	upgrade := []string{"upgrade", "telco-cloud-init", chart, "--set", "components.capd.enabled=true", "--set",
		"flux.interval=20m"}
	h.run(append(upgrade, source...)...)
	if state, revision := h.status(); state != "deployed" || revision != 2 {
		t.Errorf("upgraded: %s at revision %d", state, revision)
	}
	if got, want := kustomizations(ctx, t, cluster), []string{"cabpk", "capd", "capi", "cert-manager"}; !slices.Equal(
		got, want) {
		t.Errorf("Kustomizations %q, want %q", got, want)
	}
	capi := object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "capi")
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(capi), capi); err != nil {
		t.Fatal(err)
	}
	if interval, _, _ := unstructured.NestedString(capi.Object, "spec", "interval"); interval != "20m" {
		t.Errorf("capi has the interval %q", interval)
	}

	h.run("uninstall", "telco-cloud-init")
	if left := kustomizations(ctx, t, cluster); len(left) > 0 {
		t.Errorf("Kustomizations %q outlive the release", left)
	}
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(git), git); !apierrors.IsNotFound(err) {
		t.Errorf("the source outlives the release: %v", err)
	}
	namespace := &corev1.Namespace{}
	if err := cluster.Get(ctx, client.ObjectKey{Name: "management"}, namespace); err != nil ||
		namespace.DeletionTimestamp != nil {
		t.Errorf("the namespace with the cluster's definition went with the release: %v", err)
	}
}

// withFlux installs Flux's definitions and returns a connection.
func withFlux(ctx context.Context, t *testing.T, server *apiserver.Server) *kube.Cluster {
	t.Helper()
	archive, err := apiserver.ReadManifest(flux.ManifestsURL)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := flux.Render(flux.Options{Archive: archive})
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := flux.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cluster, err := kube.Connect("existing", server.Kubeconfig(), scheme)
	if err != nil {
		t.Fatal(err)
	}
	if err := flux.Install(ctx, cluster, objects); err != nil {
		t.Fatal(err)
	}
	return cluster
}

func object(apiVersion, kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": environment.Namespace}}}
}

// kustomizations returns the names of all Kustomizations, sorted.
func kustomizations(ctx context.Context, t *testing.T, cluster *kube.Cluster) []string {
	t.Helper()
	list, err := flux.Kustomizations(ctx, cluster)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range list {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}
