//go:build integration

package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/cli"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/internal/testenv"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// run runs a command of the pivot and holds its exit code against what is wanted.
func (c *twoClusters) run(when, verb string, want int) (said string) {
	c.t.Helper()
	var out, err bytes.Buffer
	args := []string{"pivot", verb, "kubeadm-capd", "--set", "cluster.name=" + fixture.Cluster, "--set",
		"cluster.namespace=" + fixture.Namespace,
		"--bootstrap-kubeconfig", c.bootstrap}
	if got := cli.Main(c.t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}); got != want {
		c.t.Fatalf("%s: exit code %d, want %d\n%s%s", when, got, want, out.String(), err.String())
	}
	return out.String() + err.String()
}

// withFlux installs Flux's kinds and a HelmRelease as `up` does.
func (c *twoClusters) withFlux(server *testenv.Server) {
	c.t.Helper()
	archive, err := apiserver.ReadManifest(flux.ManifestsURL)
	if err != nil {
		c.t.Fatal(err)
	}
	objects, err := flux.Render(flux.Options{Archive: archive})
	if err != nil {
		c.t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, flux.AddToScheme} {
		if err := add(scheme); err != nil {
			c.t.Fatal(err)
		}
	}
	cluster, err := kube.Connect("test", server.Kubeconfig(), scheme)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := flux.Install(c.t.Context(), cluster, objects); err != nil {
		c.t.Fatal(err)
	}
	release, err := flux.HelmRelease(flux.Release{})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cluster.ApplyAll(c.t.Context(), release); err != nil {
		c.t.Fatal(err)
	}
}

// suspended says whether the HelmRelease of a cluster is, for the pivot.
func (c *twoClusters) suspended(server *testenv.Server) bool {
	c.t.Helper()
	release := helmRelease()
	if err := server.Client.Get(c.t.Context(), client.ObjectKeyFromObject(release), release); err != nil {
		c.t.Fatal(err)
	}
	suspended, _, _ := unstructured.NestedBool(release.Object, "spec", "suspend")
	return suspended && release.GetAnnotations()[owned.SuspendedAnnotation] == fixture.Namespace+"/"+fixture.Cluster
}

func helmRelease() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("helm.toolkit.fluxcd.io/v2")
	u.SetKind("HelmRelease")
	u.SetNamespace(flux.Namespace)
	u.SetName(flux.ReleaseName)
	return u
}

func (c *twoClusters) patch(server *testenv.Server, u *unstructured.Unstructured, patch string) {
	c.t.Helper()
	if err := server.Client.Patch(c.t.Context(), u, client.RawPatch("application/merge-patch+json",
		[]byte(patch))); err != nil {
		c.t.Fatal(err)
	}
}

// holds says how many objects a cluster has of those that move.
func (c *twoClusters) holds(server *testenv.Server) int {
	c.t.Helper()
	graph, err := capi.Discover(c.t.Context(), server.Client, c.namespace)
	if err != nil {
		c.t.Fatal(err)
	}
	return len(graph.Moves())
}

// reconciled gives the objects of a cluster the status that its controllers would.
func (c *twoClusters) reconciled(server *testenv.Server) {
	c.t.Helper()
	for _, u := range fixture.ManagementCluster() {
		status, has := u.Object["status"]
		if !has {
			continue
		}
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(u.GroupVersionKind())
		if err := server.Client.Get(c.t.Context(), client.ObjectKey{Namespace: fixture.Namespace, Name: u.GetName()},
			got); err != nil {
			c.t.Fatal(err)
		}
		got.Object["status"] = status
		if err := server.Client.Status().Update(c.t.Context(), got); err != nil {
			c.t.Fatal(err)
		}
	}
}

// A pivot that was interrupted is ended by `pivot resume`, and a finished one undone by `pivot rollback`, where the
// providers of the management cluster need not be ready. Neither begins a pivot.
func TestPivotResumeAndRollback(t *testing.T) {
	c := newTwoClusters(t)
	c.withFlux(c.source)
	c.withFlux(c.target)
	all := c.holds(c.source)

	if said := c.run("no pivot was begun", "resume", 60); !strings.Contains(said, "no pivot was begun") ||
		!strings.Contains(said, "cluster-init up kubeadm-capd") {
		t.Errorf("no pivot was begun: %s", said)
	}
	c.run("nothing to undo", "rollback", 60)

	c.patch(c.source, helmRelease(), `{"metadata":{"annotations":{"`+owned.SuspendedAnnotation+`":"`+fixture.Namespace+
		`/`+fixture.Cluster+`"}},"spec":{"suspend":true}}`)
	own := fixture.ManagementCluster()[0]
	own.SetNamespace(fixture.Namespace)
	c.patch(c.source, own.DeepCopy(), `{"metadata":{"annotations":{"`+owned.PivotAnnotation+`":"`+fixture.Namespace+`/`+
		fixture.Cluster+`"}},"spec":{"paused":true}}`)
	if said := c.run("a pivot that is not finished", "rollback", 60); !strings.Contains(
		said, "pivot resume kubeadm-capd") {
		t.Errorf("a pivot that is not finished: %s", said)
	}
	c.run("interrupted", "resume", 0)
	if here, there := c.holds(c.source), c.holds(c.target); here != 0 || there != all {
		t.Fatalf("%d objects at the source, %d of %d on the target", here, there, all)
	}
	c.run("finished already", "resume", 0)

	c.write(filepath.Join(c.state, "kubeconfig"), c.target.Kubeconfig(), 0o600)
	c.reconciled(c.target)
	provider := fixture.Providers()[0]
	provider.SetNamespace("capi-system")
	c.patchStatus(c.target, provider, `{"status":{"readyReplicas":0,"availableReplicas":0}}`)
	if said := c.run("the management cluster is not well", "rollback", 0); !strings.Contains(said, "not well") {
		t.Errorf("it does not say why: %s", said)
	}
	if here, there := c.holds(c.source), c.holds(c.target); here != all || there != 0 {
		t.Fatalf("%d of %d objects are back, %d on the target", here, all, there)
	}
	if c.suspended(c.source) || !c.suspended(c.target) {
		t.Errorf("suspended: the source %t, the target %t", c.suspended(c.source), c.suspended(c.target))
	}
	c.run("undone already", "rollback", 0)
}

func (c *twoClusters) patchStatus(server *testenv.Server, u *unstructured.Unstructured, patch string) {
	c.t.Helper()
	if err := server.Client.Status().Patch(c.t.Context(), u, client.RawPatch("application/merge-patch+json",
		[]byte(patch))); err != nil {
		c.t.Fatal(err)
	}
}
