//go:build integration

package install

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// containers is a provider whose machines are containers.
type containers struct{ provider.Provider }

func (containers) Kinds() []schema.GroupVersionResource { return nil }
func (containers) ReachesEngine() bool                  { return true }

// files are release files that exist.
type files struct{}

func (files) Fetch(context.Context, string) ([]byte, error) { return nil, nil }
func (files) Unpinned([]string) []string                    { return nil }

// newRun returns a run against the shared server, and the folder of its state.
func newRun(ctx context.Context, t *testing.T, sets ...string) (*Run, context.Context) {
	t.Helper()
	env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Installed: true, Variables: func(string) (string, bool) { return "", false }, Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	file := filepath.Join(state, "existing")
	if err := os.WriteFile(file, shared.Kubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, leases := lease.NewSet(ctx)
	t.Cleanup(leases.ReleaseAll)
	subject := clusters.Subject{Identity: clusters.IdentityOf(env), KubeconfigPath: file, StateFolder: state,
		Timeout: time.Minute}
	return New(Options{Subject: subject, Environment: env, Heartbeat: time.Minute,
		Supplies: bootstrap.Supplies{Content: clusterinit.Content(), Manifests: files{},
			Source: source.Source{Kind: source.Git, Git: flux.GitSource{URL: "https://git.example.org/x.git", Branch: "main"}}}},
		clusters.Parts{Docker: &docker.Client{NotNeeded: true}, Provider: containers{}, Leases: leases,
			Now: time.Now}), ctx
}

func TestExistingClusters(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	t.Run("a cluster without components is accepted", accepts)
	t.Run("a second run accepts the chart of a component", func(t *testing.T) { acceptsCharts(ctx, t) })
	t.Run("components of another owner are refused", func(t *testing.T) { refusesComponents(ctx, t) })
	t.Run("releases of others are refused", func(t *testing.T) { refusesReleases(ctx, t) })
	t.Run("a cert-manager of another owner is used", func(t *testing.T) { adopts(ctx, t) })
	t.Run("a release marks the cluster", func(t *testing.T) { marks(ctx, t) })
	t.Run("uninstall takes out what install put in", func(t *testing.T) { uninstalls(ctx, t) })
}

func accepts(t *testing.T) {
	run, ctx := newRun(t.Context(), t)
	notes := &pipeline.Notes{}
	if err := run.preflight(ctx, notes); err != nil {
		t.Error(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "somewhere"}}
	shared.Create(ctx, t, node)
	defer shared.Remove(ctx, t, node)
	if err := run.preflight(ctx, notes); err != nil || !strings.Contains(strings.Join(notes.Warnings, "\n"),
		"not checked: whether each node has /var/run/docker.sock") {
		t.Errorf("%v, warned: %v", err, notes.Warnings)
	}
	remote, remoteCtx := newRun(t.Context(), t,
		"components.capd.substitute.CAPD_DOCKER_HOST=tcp://192.0.2.7:2375")
	remote.cluster, notes.Warnings = shared.Client, nil
	if err := remote.checkNodes(remoteCtx, notes); err != nil || len(notes.Warnings) > 0 {
		t.Errorf("a provider with an address of the engine: %v, warned: %v", err, notes.Warnings)
	}
	run.Source.Kind = source.Embedded
	if err := run.checkNodes(ctx, notes); fault.CodeOf(err) != fault.SourceUnreadable ||
		!strings.Contains(fault.HintOf(err), "--source git") {
		t.Errorf("a node that does not reach the registry: %v", err)
	}
}

// All that others have installed is named at once, and nothing is created.
func refusesComponents(ctx context.Context, t *testing.T) {
	run, ctx := newRun(ctx, t)
	shared.DefineCluster(ctx, t)
	shared.Namespaces(ctx, t, "cert-manager")
	foreign := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "cert-manager", Name: "theirs"},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}}}
	shared.Create(ctx, t, foreign)
	defer shared.Remove(ctx, t, foreign)
	err := run.preflight(ctx, &pipeline.Notes{})
	for _, named := range []string{"CustomResourceDefinition clusters.cluster.x-k8s.io",
		"Deployment cert-manager/theirs"} {
		if fault.CodeOf(err) != fault.ClusterForeign || !strings.Contains(err.Error(), named) {
			t.Errorf("%v, want %q", err, named)
		}
	}
	// another GitOps tool may have a Kustomization with the name of a component
	shared.Patch(ctx, t, foreign, `{"metadata":{"labels":{"kustomize.toolkit.fluxcd.io/name":"cert-manager",`+
		`"kustomize.toolkit.fluxcd.io/namespace":"flux-system"}}}`)
	if err := run.checkForeign(ctx); err == nil || !strings.Contains(err.Error(), "cert-manager/theirs") {
		t.Errorf("applied by a Kustomization of somebody else: %v", err)
	}
	own := &metav1.PartialObjectMetadata{}
	own.SetGroupVersionKind(helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind))
	err = shared.Client.Get(ctx, client.ObjectKey{Namespace: flux.Namespace, Name: flux.ReleaseName}, own)
	if !apierrors.IsNotFound(err) {
		t.Errorf("a release: %v", err)
	}
	cluster := fluxserver.NewCluster(run.Namespace, run.Cluster)
	shared.Namespaces(ctx, t, run.Namespace)
	shared.Create(ctx, t, cluster)
	defer shared.Remove(ctx, t, cluster)
	if err := run.checkOwner(ctx); fault.CodeOf(err) != fault.ClusterForeign ||
		!strings.Contains(fault.HintOf(err), "cluster-init up kubeadm-capd") {
		t.Errorf("a cluster of up: %v", err)
	}
}

func refusesReleases(ctx context.Context, t *testing.T) {
	run, ctx := newRun(ctx, t)
	run.cluster = shared.Client
	values := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: environment.ValuesName,
		Labels: map[string]string{owned.ClusterLabel: "other"}}}
	shared.Create(ctx, t, values)
	if err := run.checkOwner(ctx); fault.CodeOf(err) != fault.ClusterForeign ||
		!strings.Contains(err.Error(), "the release of the management cluster other") {
		t.Errorf("the values of another one: %v", err)
	}
	shared.Patch(ctx, t, values, `{"metadata":{"labels":{"cluster-init.io/cluster":"kubeadm-capd"}}}`)
	if err := run.checkOwner(ctx); fault.CodeOf(err) != fault.ClusterForeign ||
		!strings.Contains(fault.HintOf(err), "cluster-init up kubeadm-capd") {
		t.Errorf("the values of up: %v", err)
	}
	shared.Remove(ctx, t, values)
	release, err := flux.HelmRelease(flux.Release{})
	if err != nil {
		t.Fatal(err)
	}
	shared.Create(ctx, t, release)
	defer shared.Remove(ctx, t, release)
	if err := run.checkOwner(ctx); fault.CodeOf(err) != fault.ClusterForeign ||
		!strings.Contains(err.Error(), "was not created by install") {
		t.Errorf("a release that install did not make: %v", err)
	}
}

// With the release a cluster is known by its kubeconfig alone, a later run keeps its key, and what was on may go only
// when it is allowed.
func marks(ctx context.Context, t *testing.T) {
	run, leased := newRun(ctx, t)
	world := clusters.New(run.Subject, run.world.Parts)
	if side := world.SeeManagement(ctx, nil); side.State != clusters.ManagementForeign {
		t.Errorf("before: %s, %v", side.State, side.Err)
	}
	notes := &pipeline.Notes{}
	if err := run.preflight(ctx, notes); err != nil {
		t.Fatal(err)
	}
	if err := run.values(leased, notes); err != nil {
		t.Fatal(err)
	}
	second, secondLeased := newRun(ctx, t, "cluster.name=second")
	second.cluster = shared.Client
	if err := second.values(secondLeased, notes); fault.CodeOf(err) != fault.Busy ||
		!strings.Contains(err.Error(), "holds the lock on the existing cluster") {
		t.Errorf("another environment at the same time: %v", err)
	}
	second.world.Leases.ReleaseAll()
	run.world.Leases.ReleaseAll()
	release := rollout.Release{Environment: run.Environment, Source: run.Source, Phase: environment.Management}
	if _, err := release.Apply(ctx, run.cluster, clusters.Suspension(run.cluster, run.Scope), time.Now()); err != nil {
		t.Fatal(err)
	}
	if side := world.SeeManagement(ctx, nil); side.Cluster == nil || !side.Installed {
		t.Errorf("after: %+v", side)
	}
	if err := second.checkOwner(ctx); fault.CodeOf(err) != fault.ClusterForeign || !strings.Contains(err.Error(),
		"install made the cluster the management cluster management/kubeadm-capd") {
		t.Errorf("another environment later: %v", err)
	}
	other := run.Subject
	other.Cluster = "other"
	if side := clusters.New(other, run.world.Parts).SeeManagement(ctx, nil); side.State != clusters.ManagementForeign {
		t.Errorf("as another one: %s", side.State)
	}
	key := func(r *Run) any { return r.Environment.Values(environment.Management)["secret_fingerprint_key"] }
	again, leased := newRun(ctx, t)
	if err := again.preflight(ctx, notes); err != nil {
		t.Fatal(err)
	}
	if err := again.values(leased, notes); err != nil || key(again) != key(run) {
		t.Errorf("again: %v, key %v, want %v", err, key(again), key(run))
	}
	again.world.Leases.ReleaseAll()
	without, leased := newRun(ctx, t, "components.cabpr.enabled=true")
	without.cluster = shared.Client
	if err := without.values(leased, notes); err != nil {
		t.Fatal(err)
	}
	stored, err := without.Environment.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.Client.ApplyAll(ctx, stored.Values); err != nil {
		t.Fatal(err)
	}
	without.world.Leases.ReleaseAll()
	less, leased := newRun(ctx, t)
	less.cluster = shared.Client
	err = less.values(leased, notes)
	if fault.CodeOf(err) != fault.ChangeRefused || !strings.Contains(err.Error(), "components.cabpr") {
		t.Errorf("a component less: %v", err)
	}
	less.AllowChanges = []string{"components.cabpr"}
	if err := less.values(leased, notes); err != nil {
		t.Errorf("allowed: %v", err)
	}
}
