//go:build integration

package workload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// fleet is the management cluster of the table of refusals.
var fleet = Key{"fleet", "mgmt"}

// fleetScene is a management cluster that could make the cluster team-r/shop again: it exists.
type fleetScene struct {
	workload       fluxserver.Server
	self           *unstructured.Unstructured
	kustomizations map[string]*kustomizev1.Kustomization
	deployments    map[string]*appsv1.Deployment
	archive        []byte
}

func newFleet(ctx context.Context, t *testing.T) *fleetScene {
	t.Helper()
	w := &fleetScene{kustomizations: map[string]*kustomizev1.Kustomization{},
		deployments: map[string]*appsv1.Deployment{}, workload: startWorkload(t),
		self: fluxserver.NewCluster(fleet.Namespace, fleet.Name)}
	shared.Namespaces(ctx, t, fleet.Namespace, "team-r", "capi-r", "cabpk-r", "capd-r")
	w.self.Object["spec"] = map[string]any{"clusterNetwork": map[string]any{
		"pods": map[string]any{"cidrBlocks": []any{"10.244.0.0/16"}}}}
	w.self.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Available", "status": "True",
		"reason": "A", "lastTransitionTime": "2026-01-01T00:00:00Z"}}}
	key := Key{"team-r", "shop"}
	stored := fluxserver.KubeconfigSecret(key.Namespace, key.Name, w.workload.Kubeconfig())
	w.create(ctx, t, w.self, release(key), fluxserver.NewCluster(key.Namespace, key.Name), stored)
	for _, name := range []string{"capi", "cabpk", "capd"} {
		k := madeBy(Key{flux.Namespace, flux.ReleaseName}, name)
		k.Name = name
		w.create(ctx, t, k)
		k.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionTrue, Reason: "A",
			LastTransitionTime: metav1.Now()}}
		k.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{
			{ID: name + "-r_" + name + "_apps_Deployment", Version: "v1"}}}
		if err := shared.Client.Status().Update(ctx, k); err != nil {
			t.Fatal(err)
		}
		labels := map[string]string{"app": name}
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: name + "-r", Name: name,
			Labels: map[string]string{"kustomize.toolkit.fluxcd.io/name": name}}}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "manager"}}
		w.create(ctx, t, d)
		w.kustomizations[name], w.deployments[name] = k, d
	}
	for _, name := range flux.Controllers() {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: name}}
		t.Cleanup(func() { patch(context.WithoutCancel(ctx), t, d, deploymentStatus(0)) }) // they run nowhere
		w.deployments[name] = d
	}
	for _, d := range w.deployments {
		patch(ctx, t, d, deploymentStatus(1))
	}
	w.source(ctx, t)
	return w
}

// create creates objects, and removes them when the test ends.
func (w *fleetScene) create(ctx context.Context, t *testing.T, objects ...client.Object) {
	t.Helper()
	shared.Create(ctx, t, objects...)
	t.Cleanup(func() { shared.Remove(context.WithoutCancel(ctx), t, objects...) })
}

// source makes the release of the management cluster and its source, whose artifact has the folders of the content.
func (w *fleetScene) source(ctx context.Context, t *testing.T) {
	t.Helper()
	w.archive = packed(t, []string{"kustomize-components/cluster/kubeadm-capd/",
		"kustomize-components/cluster/rke2-capd/", "kustomize-components/health-checks/"})
	own, err := flux.HelmRelease(flux.Release{})
	if err != nil {
		t.Fatal(err)
	}
	own.Spec.Values = &apiextensionsv1.JSON{
		Raw: []byte(`{"source":{"kind":"OCIRepository","name":"telco-cloud-init"}}`)}
	source := flux.ContentSource(flux.OCIArtifact{URL: "oci://registry.example.org/x",
		Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(nil))})
	chart := flux.ChartSource(flux.OCIArtifact{URL: "oci://registry.example.org/chart",
		Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(nil))})
	w.create(ctx, t, own, source, chart)
	source.Status = sourcev1.OCIRepositoryStatus{Artifact: artifactOf(w.archive)}
	if err := shared.Client.Status().Update(ctx, source); err != nil {
		t.Fatal(err)
	}
}

func artifactOf(archive []byte) *meta.Artifact {
	return &meta.Artifact{URL: "http://source-controller.flux-system.svc.cluster.local./a.tar.gz", Path: "a.tar.gz",
		Revision: "latest", Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(archive)), LastUpdateTime: metav1.Now()}
}

// cluster is what a row is about, by default shop. No source-controller runs: the connection answers for it.
func (w *fleetScene) cluster(ctx context.Context, t *testing.T, row refusal) Cluster {
	t.Helper()
	if row.environment == "" {
		row.environment = "kubeadm-capd"
	}
	if row.machines == "" {
		row.machines = "172.18.0.0/16"
	}
	sets := append([]string{"cni=none", "cluster.name=shop", "cluster.namespace=team-r"}, row.sets...)
	env, err := environment.Load(ctx, environment.Options{Name: row.environment, Content: clusterinit.Content(),
		Workload: true, Variables: func(string) (string, bool) { return "", false }, Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	management, archive := *shared.Client, w.archive
	if row.lacks {
		archive = packed(t, []string{"kustomize-components/health-checks/"})
		source := flux.ContentSource(flux.OCIArtifact{})
		patch(ctx, t, source, fmt.Sprintf(`{"status":{"artifact":{"digest":%q}}}`, artifactOf(archive).Digest))
		t.Cleanup(func() {
			patch(context.WithoutCancel(ctx), t, source, fmt.Sprintf(`{"status":{"artifact":{"digest":%q}}}`,
				artifactOf(w.archive).Digest))
		})
	}
	management.Config = rest.CopyConfig(shared.Client.Config)
	management.Config.Wrap(func(next http.RoundTripper) http.RoundTripper { return sourceController{next, archive} })
	return Cluster{Management: &management, Self: fleet, Environment: env, Provider: place{},
		Machines: []environment.Range{{Path: "nodes", CIDR: row.machines}},
		Follow:   rollout.Options{Now: time.Now, Heartbeat: time.Minute}}
}

// phaseOf is a ConfigMap of the user's own that has the name of one of a cluster's.
func (w *fleetScene) phaseOf(ctx context.Context, t *testing.T, name string) *corev1.ConfigMap {
	t.Helper()
	env := w.cluster(ctx, t, refusal{sets: []string{"cluster.name=" + name}}).Environment
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-r",
		Name: env.PhaseValues(environment.Workload).Name}}
}

// valuesOf returns a ConfigMap of another owner with the name of the values of a cluster, and other values.
func valuesOf(name string) *corev1.ConfigMap {
	names := environment.WorkloadObjects("team-r", name)
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-r", Name: names.Values.Name},
		Data: map[string]string{environment.ValuesKey: "cluster: {control_plane: {replicas: 5}}"}}
}

// sourceController answers requests to the Service of source-controller with an archive.
type sourceController struct {
	next    http.RoundTripper
	archive []byte
}

func (s sourceController) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.Contains(r.URL.Path, "/services/http:source-controller:80/proxy/") {
		return s.next.RoundTrip(r)
	}
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{}, Request: r,
		Body: io.NopCloser(bytes.NewReader(s.archive))}, nil
}

// startWorkload starts the API server of the workload cluster.
func startWorkload(t *testing.T) fluxserver.Server {
	t.Helper()
	started, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = started.Stop() })
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	connected, err := kube.Connect("workload", started.Kubeconfig(), scheme)
	if err != nil {
		t.Fatal(err)
	}
	s := fluxserver.Server{Server: started, Client: connected}
	// it still writes objects of its own, such as its FlowSchemas
	for before := s.Versions(t.Context(), t); ; {
		now := s.Versions(t.Context(), t)
		if len(before.Changes(now)) == 0 {
			return s
		}
		before = now
	}
}

// depotRelease is a HelmRelease of the user's own.
func depotRelease() *helmv2.HelmRelease {
	r, _ := flux.HelmRelease(flux.Release{Namespace: "team-r", Name: "depot", Chart: "depot"})
	return r
}

// deploymentStatus patches a Deployment of one replica to be as it was for a long time.
func deploymentStatus(replicas int) string {
	return fmt.Sprintf(`{"status":{"observedGeneration":1,"replicas":%d,"readyReplicas":%d,"availableReplicas":%d,`+
		`"conditions":[{"type":"Available","status":"%s","reason":"A","lastTransitionTime":"2020-01-01T00:00:00Z",`+
		`"lastUpdateTime":"2020-01-01T00:00:00Z"}]}}`, replicas, replicas, replicas,
		map[int]string{0: "False", 1: "True"}[replicas])
}

// patch merges a patch into an object, or into its status.
func patch(ctx context.Context, t *testing.T, o client.Object, content string) {
	t.Helper()
	change := client.RawPatch("application/merge-patch+json", []byte(content))
	err := error(nil)
	if _, hasNone := o.(*unstructured.Unstructured); strings.HasPrefix(content, `{"status"`) && !hasNone {
		err = shared.Client.Status().Patch(ctx, o, change)
	} else {
		err = shared.Client.Patch(ctx, o, change)
	}
	if err != nil {
		t.Fatal(err)
	}
}
