//go:build integration

package cli_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// heldDeletion stands before the bootstrap cluster and holds the first deletion of an object that moves, until goOn is
// closed.
func (c *twoClusters) heldDeletion() (kubeconfig []byte, reached <-chan struct{}, goOn chan<- struct{}) {
	c.t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(c.source.Kubeconfig())
	if err != nil {
		c.t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		c.t.Fatal(err)
	}
	address, err := url.Parse(config.Host)
	if err != nil {
		c.t.Fatal(err)
	}
	came, release := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(came) })
	backend := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(address) },
		Transport: transport, FlushInterval: -1}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/namespaces/"+c.namespace+"/") {
			first()
			<-release
		}
		backend.ServeHTTP(w, r)
	}))
	c.t.Cleanup(front.Close)
	return []byte("{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: '" +
		front.URL + "'}}], contexts: [{name: c, context: {cluster: c}}]}"), came, release
}

// A move that has begun to delete is finished also when the terminal, the session or the reader goes away: else each
// side would hold half of it.
func TestAMoveIsFinishedWhoeverGoesAway(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // where this test runs under nohup, its processes would ignore it too
	defer signal.Stop(heard)
	servers := newTwoClusters(t)
	servers.withFlux(servers.source)
	servers.withFlux(servers.target)
	for name, interrupt := range map[string]func(*exec.Cmd, *os.File) error{
		"the reader is gone":   func(_ *exec.Cmd, reader *os.File) error { return reader.Close() },
		"the terminal hung up": func(c *exec.Cmd, _ *os.File) error { return c.Process.Signal(syscall.SIGHUP) },
		"the session ends":     func(c *exec.Cmd, _ *os.File) error { return c.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			c := *servers
			c.t, c.namespace, c.bootstrap = t, strings.ReplaceAll(name, " ", "-"), filepath.Join(t.TempDir(), "bootstrap")
			c.fill()
			all := c.holds(c.source)
			c.patch(c.source, helmRelease(), `{"metadata":{"annotations":{"`+owned.SuspendedAnnotation+`":"`+
				c.namespace+`/`+fixture.Cluster+`"}},"spec":{"suspend":true}}`)
			own := fixture.ManagementCluster()[0]
			own.SetNamespace(c.namespace)
			c.patch(c.source, own.DeepCopy(), `{"metadata":{"annotations":{"`+owned.PivotAnnotation+`":"`+
				c.namespace+`/`+fixture.Cluster+`"}},"spec":{"paused":true}}`)
			kubeconfig, reached, goOn := c.heldDeletion()
			c.write(c.bootstrap, kubeconfig, 0o600)

			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			process := exec.CommandContext(t.Context(), "cluster-init", "pivot", "resume", "kubeadm-capd", "--set",
				"cluster.name="+fixture.Cluster,
				"--set", "cluster.namespace="+c.namespace, "--bootstrap-kubeconfig", c.bootstrap)
			process.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "CI=", "GITHUB_ACTIONS=", "GITLAB_CI=")
			process.Stdout, process.Stderr = writer, writer
			if err := process.Start(); err != nil {
				t.Fatal(err)
			}
			writer.Close()
			ended := make(chan struct{})
			var code int
			go func() { code = waited(t, process); close(ended) }()
			select {
			case <-reached:
			case <-ended:
				said := make([]byte, 8000)
				n, _ := reader.Read(said)
				t.Fatalf("it ended with %d before it deleted anything:\n%s", code, said[:n])
			}
			if err := interrupt(process, reader); err != nil {
				t.Fatal(err)
			}
			close(goOn)
			<-ended
			if code != 0 && code != 130 {
				t.Errorf("exit code %d, want 130, or 0 where nothing was left to do", code)
			}
			if here, there := c.holds(c.source), c.holds(c.target); here != 0 || there != all {
				t.Errorf("%d objects at the source, %d of %d on the target", here, there, all)
			}
			moved := &unstructured.Unstructured{}
			moved.SetGroupVersionKind(own.GroupVersionKind())
			if err := c.target.Client.Get(t.Context(), client.ObjectKeyFromObject(own), moved); err != nil {
				t.Fatal(err)
			}
			if paused, _, _ := unstructured.NestedBool(moved.Object, "spec", "paused"); paused {
				t.Error("the moved Cluster stays paused")
			}
			c.patch(c.target, moved, `{"metadata":{"finalizers":null}}`) // the next one has the same name
			if err := c.target.Client.Delete(t.Context(), moved); err != nil {
				t.Fatal(err)
			}
		})
	}
}
