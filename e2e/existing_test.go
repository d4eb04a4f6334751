//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	dockerengine "github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// existingName is a cluster that cluster-init did not make: the disposable one of a user.
const existingName = "e2e-disposable"

// existingCluster makes a cluster that is no environment's, whose nodes pull as its owner has set them up, and returns
// its kubeconfig. Its node has the engine's socket.
func existingCluster(t *testing.T, l lab) string {
	t.Helper()
	return existingClusterWith(t, l, "/var/run/docker.sock")
}

// existingClusterWith is existingCluster with another socket; empty means none.
func existingClusterWith(t *testing.T, l lab, socket string) string {
	t.Helper()
	opened := l.openBundle(t)
	engine := &dockerengine.Client{}
	err := bundle.LoadImages(t.Context(), engine, opened, opened.References(bundle.LoadDocker), nil)
	if err != nil {
		t.Fatal(err)
	}
	provider := kind.New(func(line string) { t.Log(line) })
	t.Cleanup(func() {
		out, err := exec.Command("sh", "-c", "docker rm -f -v "+kind.NodeName(existingName)+
			"; docker network rm kind").CombinedOutput()
		if err != nil {
			t.Errorf("deleting the existing cluster: %v: %s", err, out)
		}
	})
	config := kind.Config{Name: existingName, Markers: []string{owned.Marker(existingName)},
		NodeImage: opened.Index.NodeImage, DockerSocket: socket}
	if err := provider.Create(t.Context(), config, 5*time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	mirrors, err := oci.BundleMirrors(registry.Host(environmentName), opened.References(bundle.LoadRegistry))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mirrors {
		err := engine.Exec(t.Context(), kind.NodeName(existingName),
			[]string{"sh", "-c", `mkdir -p "$0" && cat > "$0/hosts.toml"`,
				"/etc/containerd/certs.d/" + m.Host},
			dockerengine.ExecOptions{Stdin: bytes.NewReader([]byte(m.HostsTOML()))})
		if err != nil {
			t.Fatal(err)
		}
	}
	kubeconfig, err := provider.Kubeconfig(t.Context(), existingName)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "existing.kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMatrixDockerSocket has `up` refuse a cluster whose node lacks the engine's socket, before it makes anything.
func TestMatrixDockerSocket(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	kubeconfig := existingClusterWith(t, l, "")
	e := l.signalAt(t, os.Interrupt, never, "up", environmentName, "--bundle", l.bundle, "--bootstrap-kubeconfig",
		kubeconfig)
	if e.exitCode != 20 || !strings.Contains(e.failure.Message, "no Docker socket /var/run/docker.sock on nodes of the "+
		"cluster of --bootstrap-kubeconfig: "+kind.NodeName(existingName)) {
		t.Errorf("up ended with %d, want 20: %+v", e.exitCode, e.failure)
	}
	l.nothingOurs(t)
	if left := connect(t, kubeconfig).list(t, "", "v1", "Pod"); slices.ContainsFunc(left,
		func(p unstructured.Unstructured) bool { return p.GetNamespace() == "default" }) {
		t.Errorf("the Pod that asked is left: %v", left)
	}
}

// outlives fails the test unless the existing cluster stands, and holds nothing any more of what was built from it.
func outlives(t *testing.T, kubeconfig string) {
	t.Helper()
	existing := connect(t, kubeconfig)
	if left := existing.list(t, "cluster.x-k8s.io", "v1beta2", "Cluster"); len(left) > 0 {
		t.Errorf("the existing cluster still holds %d Clusters", len(left))
	}
	if made := containers(t, "io.x-k8s.kind.cluster="+environmentName+"-bootstrap"); len(made) > 0 {
		t.Errorf("a kind cluster was made next to the existing one: %v", made)
	}
}
