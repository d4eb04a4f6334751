package registry

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// envSocket makes the test binary act as the far end of the tunnel, as `registry dial` does in the container.
const envSocket = "CLUSTER_INIT_TEST_DIAL_SOCKET"

func TestMain(m *testing.M) {
	if socket := os.Getenv(envSocket); socket != "" {
		if err := dial(context.Background(), socket, os.Stdin, os.Stdout); err != nil {
			_, _ = io.WriteString(os.Stderr, err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startRegistry serves a real registry and returns its network address and its socket.
func startRegistry(t *testing.T) (address, socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	readers, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	writers, err := listenUnix(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	root := t.TempDir()
	go func() { done <- serve(ctx, root, readers, writers) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
	return readers.Addr().String(), socket
}

// testTunnel opens a tunnel through real processes and counts them.
func testTunnel(t *testing.T, socket string) (*Tunnel, *atomic.Int64) {
	t.Helper()
	started := new(atomic.Int64)
	tunnel := NewTunnel(context.Background(), func(ctx context.Context) *exec.Cmd {
		started.Add(1)
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), envSocket+"="+socket)
		return cmd
	})
	t.Cleanup(tunnel.Close)
	return tunnel, started
}

func randomImage(t *testing.T) v1.Image {
	t.Helper()
	img, err := random.Image(64<<10, 3)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestPushThroughTunnelIsReadableFromNetwork(t *testing.T) {
	address, socket := startRegistry(t)
	tunnel, started := testTunnel(t, socket)
	img := randomImage(t)
	want, _ := img.Digest()

	inside, err := name.NewTag("some-registry:5000/a/b:v1")
	if err != nil {
		t.Fatal(err)
	}
	// One job: the number of processes must not depend on timing.
	for range 3 {
		if err := remote.Write(inside, img, remote.WithTransport(tunnel), remote.WithJobs(1)); err != nil {
			t.Fatalf("push through the tunnel: %v", err)
		}
	}
	if n := started.Load(); n > 2 {
		t.Errorf("three pushes started %d processes, want connections to be used again", n)
	}
	outside, err := name.NewTag(address+"/a/b:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	got, err := remote.Head(outside)
	if err != nil {
		t.Fatalf("read from the network: %v", err)
	}
	if got.Digest != want {
		t.Errorf("network sees digest %s, want %s", got.Digest, want)
	}
}

func TestNetworkCannotWrite(t *testing.T) {
	address, _ := startRegistry(t)
	tag, err := name.NewTag(address+"/a/b:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, randomImage(t)); err == nil {
		t.Error("a push from the network succeeded")
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect} {
		req, err := http.NewRequest(method, "http://"+address+"/v2/a/b/blobs/uploads/", strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s from the network: %s, want 405", method, resp.Status)
		}
	}
}

func TestTunnelReportsWhatTheFarEndSaid(t *testing.T) {
	tunnel, _ := testTunnel(t, filepath.Join(t.TempDir(), "no-listener"))
	req, err := http.NewRequest(http.MethodGet, "http://any/v2/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tunnel.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
		t.Fatal("a request without a registry succeeded")
	}
	if !strings.Contains(err.Error(), "no-listener") {
		t.Errorf("error %q does not carry the far end's message", err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	l, err := listenUnix(path)
	if err != nil {
		t.Fatalf("listen over a stale socket: %v", err)
	}
	l.Close()
}
