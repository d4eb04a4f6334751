//go:build integration

package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// realEngine is the machine's Docker engine; where none answers, the test has nothing to run on.
func realEngine(ctx context.Context, t *testing.T) *docker.Client {
	t.Helper()
	d := &docker.Client{}
	if _, err := d.Info(ctx); err != nil {
		prerequisite.Missing(t, fmt.Sprintf("no Docker engine: %v", err))
	}
	return d
}

// buildBinary builds a static binary with the registry commands.
func buildBinary(t *testing.T, edition string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cluster-init-"+edition)
	cmd := exec.Command("go", "build", "-ldflags", "-X main.edition="+edition, "-o", path, "./testdata/binary")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// TestRegistryOnRealEngine drives the whole life of the registry container on a real Docker engine.
func TestRegistryOnRealEngine(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	d := realEngine(ctx, t)
	cluster := fmt.Sprintf("itest-%d", os.Getpid())
	o := EnsureOptions{Cluster: cluster, Network: cluster + "-net", Binary: buildBinary(t, "1")}
	t.Cleanup(func() { remove(t, d, o) })

	first, err := EnsureRegistry(ctx, d, o)
	if err != nil {
		t.Fatalf("first: %v (hint: %s)", err, fault.HintOf(err))
	}
	defer first.Close()
	before := inspect(ctx, t, d, first.Name)
	img := randomImage(t)
	want, _ := img.Digest()
	tag, err := name.NewTag(first.Host + "/some/thing:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, img, append(first.RemoteOptions(), remote.WithContext(ctx))...); err != nil {
		t.Fatalf("push: %v", err)
	}

	checkReadOnly(t, fmt.Sprintf("%s:%d", first.IPv4, Port), want)
	if err := d.ProbePrivileged(ctx, first.Image, "registry", "dial"); fault.CodeOf(err) == fault.DockerPrivileged {
		t.Errorf("privileged containers: %v", err)
	}

	second, err := EnsureRegistry(ctx, d, o)
	if err != nil {
		t.Fatalf("second: %v", err)
	}
	defer second.Close()
	if after := inspect(ctx, t, d, first.Name); after.ID != before.ID {
		t.Error("a second call replaced a container that was right")
	}

	serves := o
	serves.Serves = "the UID of an existing cluster"
	if _, err := EnsureRegistry(ctx, d, serves); fault.CodeOf(err) != fault.ClusterForeign {
		t.Errorf("the registry of another cluster of that name: %v, want fault %s", err, fault.ClusterForeign)
	}

	o.Binary = buildBinary(t, "2")
	third, err := EnsureRegistry(ctx, d, o)
	if err != nil {
		t.Fatalf("newer binary: %v", err)
	}
	defer third.Close()
	if after := inspect(ctx, t, d, first.Name); after.ID == before.ID || after.Image == before.Image {
		t.Error("a newer binary did not replace the container")
	}
	got, err := remote.Head(tag, append(third.RemoteOptions(), remote.WithContext(ctx))...)
	if err != nil || got.Digest != want {
		t.Errorf("content did not outlive the newer binary: %v, %v", got, err)
	}
	if exists, err := d.ImageExists(ctx, before.Image); err != nil || exists {
		t.Errorf("the older image is still there: %v, %v", exists, err)
	}

}

// remove deletes what a test made.
func remove(t *testing.T, d *docker.Client, o EnsureOptions) {
	t.Helper()
	ctx, name := context.Background(), owned.Registry(o.Cluster)
	if found, err := d.Inspect(ctx, name); err == nil {
		if err := errors.Join(d.Remove(ctx, name), d.RemoveImage(ctx, found.Image)); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(d.RemoveVolume(ctx, name), d.RemoveNetwork(ctx, o.Network)); err != nil {
		t.Error(err)
	}
}

// TestForeignRegistryIsRefused verifies that a container of the registry's name without the label is left alone.
func TestForeignRegistryIsRefused(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	d := realEngine(ctx, t)
	cluster := fmt.Sprintf("itest-foreign-%d", os.Getpid())
	o := EnsureOptions{Cluster: cluster, Network: cluster + "-net", Binary: buildBinary(t, "1")}
	volume := owned.Registry(cluster)
	if err := d.CreateVolume(ctx, volume, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.RemoveVolume(context.Background(), volume) })
	if _, err := EnsureRegistry(ctx, d, o); fault.CodeOf(err) != fault.ClusterForeign {
		t.Errorf("foreign volume: %v, want fault %s", err, fault.ClusterForeign)
	}
	if err := d.RemoveVolume(ctx, volume); err != nil {
		t.Fatal(err)
	}

	image, err := EnsureImage(ctx, d, o.Binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Remove(context.Background(), volume)
		_ = d.RemoveImage(context.Background(), image)
	})
	if _, err := d.Run(ctx, docker.RunOptions{Name: volume, Image: image, Args: []string{"registry", "serve"},
		Network: "none"}); err != nil {
		t.Fatal(err)
	}
	if _, err := EnsureRegistry(ctx, d, o); fault.CodeOf(err) != fault.ClusterForeign {
		t.Errorf("foreign container: %v, want fault %s", err, fault.ClusterForeign)
	}
	if _, err := d.Inspect(ctx, volume); err != nil {
		t.Errorf("the foreign container is gone: %v", err)
	}
	if networks, err := d.Networks(ctx, o.Network); err != nil || len(networks) > 0 {
		t.Errorf("a refused call made the network: %v, %v", networks, err)
	}
}

// checkReadOnly reads and tries to write where the docker network does.
func checkReadOnly(t *testing.T, address string, want v1.Hash) {
	t.Helper()
	tag, err := name.NewTag(address+"/some/thing:v1", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := remote.Head(tag); err != nil || got.Digest != want {
		t.Errorf("read from the docker network: %v, %v", got, err)
	}
	resp, err := http.Post("http://"+address+"/v2/some/thing/blobs/uploads/", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("write from the docker network: %s, want 405", resp.Status)
	}
}

func inspect(ctx context.Context, t *testing.T, d *docker.Client, container string) docker.Container {
	t.Helper()
	c, err := d.Inspect(ctx, container)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
