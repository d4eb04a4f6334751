//go:build integration

package clusters

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// TestObserve reads one real API server as a bootstrap cluster and as a management cluster. Its Cluster is made and
// changed as a pivot, a user and a stranger would.
func TestObserve(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{"cluster.namespace=observed"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	u := &World{Subject: Subject{Identity: IdentityOf(env), StateFolder: dir, KubeconfigPath: filepath.Join(dir, "kubeconfig")},
		Parts: Parts{Docker: &docker.Client{}}}
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1") // no engine publishes the management cluster's port
	bootstrap := func() string { return string(u.readBootstrap(ctx, shared.Client).State) }
	management := func(proven bool) string {
		return string(u.readManagement(ctx, candidate{named: "FILE", kubeconfig: shared.Kubeconfig(), proven: proven},
			shared.Client).State)
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

	shared.DefineCluster(ctx, t)
	shared.Namespaces(ctx, t, "observed", "flux-system", "elsewhere")
	cluster := fluxserver.NewCluster("observed", env.ClusterName())
	between := *shared.Client
	between.Client = madeBetween{shared.Client.Client, func() { shared.Create(ctx, t, cluster) }}
	expect("the Cluster is made between two looks", string(u.readBootstrap(ctx, &between).State), "active")
	expect("the Cluster is there", bootstrap(), "active")
	expect("the Cluster is there, without a kubeconfig", management(true), "active")
	expect("the Cluster is there, without a kubeconfig, and nobody knows whose it is", management(false), "foreign")

	secret := fluxserver.KubeconfigSecret("observed", env.ClusterName(),
		fluxserver.KubeconfigOf(t, "another", "https://192.0.2.1"))
	shared.Create(ctx, t, secret)
	expect("the Cluster is that of another cluster", management(true), "foreign")
	secret.Data["value"] = fluxserver.KubeconfigOf(t, "another", "https://127.0.0.1:1")
	shared.Update(ctx, t, secret)
	if c, err := u.reachManagement(ctx, shared.Client); c != nil || err != nil {
		t.Errorf("a management cluster that is being made, and does not answer yet, is no silence: %v, %v", c, err)
	}
	shared.Patch(ctx, t, cluster, `{"spec":{"paused":true}}`)
	if c, err := u.reachManagement(ctx, shared.Client); c != nil || err == nil {
		t.Errorf("one that a pivot was begun for should answer: %v", c)
	}
	shared.Patch(ctx, t, cluster, `{"spec":{"paused":null}}`)

	secret.Data["value"] = shared.Kubeconfig()
	shared.Update(ctx, t, secret)
	expect("the Cluster is its own", management(false), "active")
	if got := u.readBootstrap(ctx, shared.Client).Kubeconfig; !kube.SameCluster(got, shared.Kubeconfig()) {
		t.Errorf("the kubeconfig in the bootstrap cluster is %q", got)
	}

	shared.Patch(ctx, t, cluster, `{"spec":{"paused":true}}`)
	expect("the Cluster is paused", bootstrap(), "paused")
	expect("the Cluster is paused", management(false), "paused")

	shared.Remove(ctx, t, cluster, secret)
	expect("the Cluster is gone", bootstrap(), "empty")
	kustomization := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Name: "observed",
		Namespace: flux.Namespace}, Spec: kustomizev1.KustomizationSpec{Suspend: true,
		Interval:  metav1.Duration{Duration: time.Minute},
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: flux.ReleaseName}}}
	shared.Create(ctx, t, kustomization)
	expect("a user suspended something", bootstrap(), "empty")
	shared.Patch(ctx, t, kustomization, fmt.Sprintf(`{"metadata":{"annotations":{%q:"other/cluster"}}}`,
		owned.SuspendedAnnotation))
	expect("another cluster's pivot suspended it", bootstrap(), "empty")
	shared.Patch(ctx, t, kustomization, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, owned.SuspendedAnnotation,
		"observed/"+env.ClusterName()))
	expect("a pivot suspended it", bootstrap(), "moved")

	stranger := fluxserver.NewCluster("elsewhere", env.ClusterName())
	stranger.SetLabels(nil)
	shared.Create(ctx, t, stranger)
	expect("a stranger's Cluster of the name is in another namespace", bootstrap(), "moved")
	shared.Remove(ctx, t, stranger)
	own := fluxserver.NewCluster("observed", env.ClusterName())
	own.SetLabels(nil)
	shared.Create(ctx, t, own)
	expect("a stranger's Cluster has our name and namespace", bootstrap(), "foreign")
	shared.Remove(ctx, t, own)

	elsewhere := fluxserver.NewCluster("elsewhere", env.ClusterName())
	shared.Create(ctx, t, elsewhere)
	for where, seen := range map[string]error{"bootstrap": u.readBootstrap(ctx, shared.Client).Err,
		"management": u.readManagement(ctx, candidate{named: "FILE", proven: true}, shared.Client).Err} {
		if fault.CodeOf(seen) != fault.ClusterForeign ||
			!strings.Contains(fault.HintOf(seen), "--set cluster.namespace=elsewhere") {
			t.Errorf("%s cluster with a Cluster of the name in another namespace: %v", where, seen)
		}
	}
	t.Run("a server that does not answer in time, or refuses, is not an empty one", func(t *testing.T) {
		ended, end := context.WithCancel(ctx)
		end()
		nobody, err := kube.Connect(BootstrapName, fluxserver.KubeconfigOf(t, "", shared.Client.Config.Host),
			runtime.NewScheme())
		if err != nil {
			t.Fatal(err)
		}
		for name, side := range map[string]BootstrapSide{"too late": u.readBootstrap(ended, shared.Client),
			"not allowed": u.readBootstrap(ctx, nobody)} {
			if side.State != BootstrapSilent || side.Err == nil || side.Cluster != nil {
				t.Errorf("%s: %s (%v)", name, side.State, side.Err)
			}
		}
		side := u.readManagement(ended, candidate{named: "FILE", kubeconfig: shared.Kubeconfig(), proven: true},
			shared.Client)
		if side.State != ManagementSilent || side.Err == nil {
			t.Errorf("management cluster: %s (%v)", side.State, side.Err)
		}
	})
}

// madeBetween has something made right before the Clusters of all namespaces are listed.
type madeBetween struct {
	client.Client
	make func()
}

func (m madeBetween) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	if asked.Namespace == "" && list.GetObjectKind().GroupVersionKind().Kind == "ClusterList" {
		m.make()
	}
	return m.Client.List(ctx, list, options...)
}
