//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sys/unix"
)

// nothingFromOutside fails the test unless a node pulls no image that the bundle lacks, from a registry that would
// answer: a real one, which listens where the node calls it localhost, and so asks it without TLS. Without the files
// that send the node elsewhere, the same pull goes well.
func nothingFromOutside(t *testing.T, node string) {
	t.Helper()
	var asked atomic.Int32
	registry := distribution(t)
	port := listenIn(t, node, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		registry.ServeHTTP(w, r)
	}))
	image := fmt.Sprintf("localhost:%d/outside/image:v1", port)
	push(t, registry, "outside/image:v1")

	pull := func() (string, error) {
		out, err := exec.CommandContext(t.Context(), "docker", "exec", node, "crictl", "pull", image).CombinedOutput()
		return string(out), err
	}
	if out, err := pull(); err == nil || !strings.Contains(out, "not found") {
		t.Errorf("an image from outside of the bundle was pulled, or failed otherwise: %v, %s", err, out)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the registry outside was asked %d times", n)
	}

	const folder, aside = "/etc/containerd/certs.d", "/etc/containerd/aside"
	docker(t, "exec", node, "mv", folder, aside)
	defer docker(t, "exec", node, "mv", aside, folder)
	if out, err := pull(); err != nil || asked.Load() == 0 {
		t.Errorf("the registry outside does not answer, so the test proves nothing: %v, %s", err, out)
	}
}

// push puts an image into a registry of this process.
func push(t *testing.T, registry http.Handler, reference string) {
	t.Helper()
	server := httptest.NewServer(registry)
	defer server.Close()
	ref, err := name.ParseReference(server.Listener.Addr().String() + "/" + reference)
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, image, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// listenIn serves handler on a loopback port of a container, and returns the port.
func listenIn(t *testing.T, container string, handler http.Handler) int {
	t.Helper()
	space := "/proc/" + docker(t, "inspect", "--format", "{{.State.Pid}}", container) + "/ns/net"
	type result struct {
		listener net.Listener
		err      error
	}
	opened := make(chan result)
	go func() {
		// The thread is not given back: it ends with this goroutine, and with it its network namespace.
		runtime.LockOSThread()
		file, err := unix.Open(space, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Setns(file, unix.CLONE_NEWNET)
			_ = unix.Close(file)
		}
		var listener net.Listener
		if err == nil {
			listener, err = net.Listen("tcp", "127.0.0.1:0")
		}
		opened <- result{listener, err}
	}()
	got := <-opened
	if got.err != nil {
		t.Fatalf("listening in %s: %v", container, got.err)
	}
	serveOn(t, got.listener, handler)
	return got.listener.Addr().(*net.TCPAddr).Port
}
