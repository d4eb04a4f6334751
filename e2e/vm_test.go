//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	dockerengine "github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// TestMatrixVM boots a server of a real OpenStack with the user data of `vm user-data`, gives it the secrets, and sees
// it build a management cluster without any Docker engine: kubeadm makes the bootstrap cluster. Two things are the
// lab's: the images come from a registry that the test fills, and the server finds Flux's release file in its cache.
func TestMatrixVM(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	opened := l.openBundle(t)
	before := project.inventory(t)
	l, _, from := l.fromRepository(t)
	binary, sum := served(t, l.binary)
	same := append([]string{l.name, "--values", l.valuesOfBundle(t, opened), "--set", "cluster.worker.replicas=1"},
		from...)
	args := append(append([]string{"vm", "user-data"}, same...), "--binary-url", "http://"+binary, "--binary-sha256", sum)
	code, userData := l.run(t, args...)
	if code != 0 {
		t.Fatalf("vm user-data ended with %d", code)
	}
	code, secrets := l.run(t, append([]string{"vm", "secrets"}, same...)...)
	if code != 0 {
		t.Fatalf("vm secrets ended with %d", code)
	}
	if strings.Contains(userData, project.secret) {
		t.Error("the user data contains a secret")
	}
	l.fillRegistry(t, opened)

	server := newSite(t).boot(t, "bootstrap", []byte(userData))
	eventually(t, "the server has a container", 5*time.Minute, func(context.Context) bool {
		return len(containers(t, serverLabel+"="+server.id)) == 1
	})
	machine := container(t, server)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(inContainer(t, machine, "journalctl", "--no-pager", "-u", "cluster-init-vm"))
		}
	})
	eventually(t, "the machine waits for its secrets", 5*time.Minute, func(ctx context.Context) bool {
		return strings.Contains(journal(ctx, machine), "waiting for the secrets")
	})
	manifests, err := opened.Fetch(t.Context(), flux.ManifestsURL)
	if err != nil {
		t.Fatal(err)
	}
	cached := fmt.Sprintf("/var/cache/cluster-init/manifests/%x", sha256.Sum256([]byte(flux.ManifestsURL)))
	intoContainer(t, machine, string(manifests), "sh", "-c", `mkdir -p "$(dirname "$0")" && cat >"$0"`, cached)
	intoContainer(t, machine, secrets, "tar", "-xzf", "-", "-C", "/") // as over ssh

	eventually(t, "up has succeeded on the machine", 25*time.Minute, func(ctx context.Context) bool {
		state, _ := exec.CommandContext(ctx, "docker", "exec", machine, "systemctl", "is-failed",
			"cluster-init-vm").Output()
		if strings.TrimSpace(string(state)) == "failed" {
			t.Fatal("cluster-init-vm failed")
		}
		return exec.CommandContext(ctx, "docker", "exec", machine, "test", "-e", "/opt/cluster-init/done").Run() == nil
	})
	if strings.Contains(journal(t.Context(), machine), project.secret) {
		t.Error("the log of the machine contains a secret")
	}
	if made := containers(t, "io.x-k8s.kind.cluster="+l.name+"-bootstrap"); len(made) > 0 {
		t.Errorf("a kind cluster was made: %v", made)
	}
	write(t, l.kubeconfig(l.name), inContainer(t, machine, "cat", "/var/lib/cluster-init/"+l.name+"/kubeconfig"))
	l.management(t).managesItself(t)
	if now := project.names(t, openstack.KindServer); len(now) != 2 {
		t.Errorf("the project has the servers %v", now)
	}
	l.cleanupOpenStack(t, project, before)
}

// valuesOfBundle writes the values with which machines pull the bundle's images from the registry next to them.
func (l lab) valuesOfBundle(t *testing.T, opened *bundle.Bundle) string {
	t.Helper()
	mirrors, err := oci.BundleMirrors(registry.Host(l.name), opened.References(bundle.LoadRegistry))
	if err != nil {
		t.Fatal(err)
	}
	var list []any
	for _, m := range mirrors {
		list = append(list, map[string]any{"host": m.Host, "url": m.URL, "override_path": m.OverridePath, "only": m.Only})
	}
	cluster := map[string]any{"kubernetes_version": opened.Index.KubernetesVersion, "registry_mirrors": list}
	values := map[string]any{}
	for key, value := range opened.Index.Values {
		values[key] = value
	}
	if own, is := values["cluster"].(map[string]any); is {
		for key, value := range own {
			cluster[key] = value
		}
	}
	values["cluster"] = cluster
	return valuesFile(t, values)
}

// fillRegistry runs the registry that stands for the site's own, with the bundle's images. `cleanup` removes it.
func (l lab) fillRegistry(t *testing.T, opened *bundle.Bundle) {
	t.Helper()
	running, err := registry.EnsureRegistry(t.Context(), &dockerengine.Client{},
		registry.EnsureOptions{Cluster: l.name, Binary: l.binary})
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()
	target := oci.Target{Prefix: running.Host, Insecure: true, Options: running.RemoteOptions()}
	if err := bundle.FillRegistry(t.Context(), target, opened, opened.References(bundle.LoadRegistry),
		nil); err != nil {
		t.Fatal(err)
	}
}

// served serves a file where servers reach it, and returns its address without a scheme, and its SHA-256 digest.
func served(t *testing.T, file string) (address, sum string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	handler := http.FileServer(http.Dir(filepath.Dir(file)))
	return expose(t, handler) + "/" + filepath.Base(file), fmt.Sprintf("%x", sha256.Sum256(content))
}

// journal is what the machine's service has said so far.
func journal(ctx context.Context, machine string) string {
	out, _ := exec.CommandContext(ctx, "docker", "exec", machine, "journalctl", "--no-pager", "-u",
		"cluster-init-vm").Output()
	return string(out)
}

// intoContainer runs a command in a container that reads the input.
func intoContainer(t *testing.T, name, input string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "docker", append([]string{"exec", "-i", name}, args...)...)
	c.Stdin = strings.NewReader(input)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s in %s: %v: %s", args[0], name, err, out)
	}
}
