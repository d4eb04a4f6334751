//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	dockerengine "github.com/cluster-init/cluster-init/pkg/docker"
)

const stockImage = "cluster-init.io/e2e/stock:none"

// removedPrograms are those of Kubernetes in the lab's image of machines. Its unit of the kubelet stays: it is what a
// container needs.
var removedPrograms = []string{"/usr/bin/kubeadm", "/usr/bin/kubelet", "/usr/bin/kubectl", "/usr/local/bin/crictl"}

// release are the programs of Kubernetes at an address that machines reach.
type release struct {
	folder, address, version string
}

// newRelease takes the programs out of the lab's image of machines, serves them, and makes a stock image of the rest.
func (l lab) newRelease(t *testing.T) release {
	t.Helper()
	b, image := l.openBundle(t), l.nodeImage(t)
	must(t, bundle.LoadImages(t.Context(), &dockerengine.Client{}, b, []string{image}, nil))
	r := release{folder: t.TempDir(), version: b.Index.KubernetesVersion}
	const name = "e2e-stock"
	_ = exec.Command("docker", "rm", "--force", name).Run() // of a run that was killed
	docker(t, "create", "--name", name, image)
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "--force", name, name+"-without").Run() })
	for _, path := range removedPrograms {
		docker(t, "cp", name+":"+path, filepath.Join(r.folder, filepath.Base(path)))
	}
	docker(t, "cp", name+":/opt/cni/bin", filepath.Join(r.folder, "cni"))
	if out, err := exec.CommandContext(t.Context(), "tar", "-C", filepath.Join(r.folder, "cni"), "-czf",
		filepath.Join(r.folder, "cni.tgz"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_ = exec.Command("docker", "rm", "--force", name+"-without").Run()
	docker(t, "run", "--name", name+"-without", "--entrypoint", "/bin/sh", image, "-c", "rm "+
		strings.Join(removedPrograms, " ")+" /opt/cni/bin/*")
	docker(t, "commit", "--change", "ENTRYPOINT "+strings.TrimSpace(docker(t, "image", "inspect", "--format",
		"{{json .Config.Entrypoint}}", image)), "--change", "CMD []", name+"-without", stockImage)
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", stockImage).Run() })
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway(t), "0"))
	must(t, err)
	serveOn(t, listener, http.FileServer(http.Dir(r.folder)))
	r.address = "http://" + listener.Addr().String()
	return r
}

// values are those of machines of the stock image that install the release from an address. digests replace those of
// files by name.
func (r release) values(t *testing.T, program program, address string, digests map[string]string) string {
	t.Helper()
	file := func(path, name string) map[string]any {
		content, err := os.ReadFile(filepath.Join(r.folder, name))
		must(t, err)
		sum := sha256.Sum256(content)
		digest := hex.EncodeToString(sum[:])
		if other := digests[name]; other != "" {
			digest = other
		}
		return map[string]any{"path": path, "sources": map[string]any{"amd64": map[string]any{
			"url": address + "/" + name, "sha256": digest}}}
	}
	cni := file("/opt/cni/bin", "cni.tgz")
	cni["archive"] = true
	files := []any{cni}
	for _, path := range removedPrograms {
		files = append(files, file(path, filepath.Base(path)))
	}
	return valuesFile(t, map[string]any{"cluster": map[string]any{"machineadm": program.values(program.digest),
		"image": stockImage, "kubernetes_source": "boot", "kubernetes_files": map[string]any{r.version: files}}})
}

// TestMatrixBoot makes nodes of an image that has nothing of Kubernetes. A file with another digest, and a server that
// does not answer, are named.
func TestMatrixBoot(t *testing.T) {
	l := newLab(t)
	l.needBundle(t)
	cleanBefore(t, l)
	program, release := newProgram(t), l.newRelease(t)
	up := []string{"up", environmentName, "--bundle", l.bundle}
	silent := "http://" + net.JoinHostPort(gateway(t), "9")
	for _, bad := range []struct {
		address, want string
		digests       map[string]string
	}{
		{release.address, "install /usr/bin/kubelet: the digest of " + release.address + "/kubelet begins",
			map[string]string{"kubelet": strings.Repeat("0", 64)}},
		{silent, "install /opt/cni/bin: fetch " + silent + "/cni.tgz: dial tcp ", nil},
	} {
		values := release.values(t, program, bad.address, bad.digests)
		l.endsNaming(t, append(up, "--values", values), "io.x-k8s.kind.cluster="+l.name, bad.want)
		has(t, controlPlane(t, l.name), map[string]string{"no kubelet": "test ! -e /usr/bin/kubelet",
			"nothing half": "test -z \"$(ls -A /usr/bin | grep machineadm)\"",
			"no manifests": `test -z "$(ls /etc/kubernetes/manifests)"`})
	}
	if code, _ := l.run(t, append(up, "--values", release.values(t, program, release.address, nil))...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	l.management(t).managesItself(t)
	hasReport(t, controlPlane(t, l.name), "")
	has(t, controlPlane(t, l.name), map[string]string{
		"its programs": "test -x /usr/bin/kubelet && test -x /opt/cni/bin/loopback"})
	cleanup(t, l)
}
