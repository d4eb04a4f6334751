//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	dockerengine "github.com/cluster-init/cluster-init/pkg/docker"
)

// machineFile is a program or an archive in the lab's image of machines.
type machineFile struct {
	path   string // on the machine
	served string // name of the file that up and machines fetch
	origin string // path in the image, if it is another
}

// programsOfKubernetes have a version. The unit of the kubelet stays in the image: it is what a container needs.
var programsOfKubernetes = []machineFile{{path: "/usr/bin/kubelet", served: "kubelet"},
	{path: "/usr/bin/kubectl", served: "kubectl"}}

// stockOf is an image of machines, and the stock image that is made of it.
type stockOf struct {
	image, stock string
	files        []machineFile
	kept         []string // paths of files that stay
}

// dockerMachines keep crictl: Cluster API's provider for Docker asks it before a machine boots.
func (l lab) dockerMachines(t *testing.T) stockOf {
	t.Helper()
	files := []machineFile{{path: "/usr/bin/kubeadm", served: "kubeadm"},
		{path: "/usr/local/bin/crictl", served: "crictl"}}
	return stockOf{image: l.nodeImage(t, "kindest/node:"), stock: "cluster-init.io/e2e/stock:none",
		files: append(files, programsOfKubernetes...), kept: []string{"/usr/local/bin/crictl"}}
}

// openStackMachines have the script of the lab that starts kubeadm in a container.
func (l lab) openStackMachines(t *testing.T) stockOf {
	t.Helper()
	return stockOf{image: l.nodeImage(t, plan.OpenStackMachines+":"), stock: plan.OpenStackStockMachines,
		files: append([]machineFile{{path: "/usr/local/bin/kubeadm", served: "script"},
			{path: "/opt/e2e/kubeadm.bin", origin: "/usr/bin/kubeadm", served: "kubeadm"},
			{path: "/usr/local/bin/crictl", served: "crictl"}}, programsOfKubernetes...)}
}

// release are the programs of Kubernetes at an address that up and machines reach. next is a stand-in for the patch
// release after it: the same programs with another version in them.
type release struct {
	stockOf
	folder, address, version, next string
}

// newRelease takes the programs out of an image of machines, serves them, and makes a stock image of the rest.
func (l lab) newRelease(t *testing.T, m stockOf) release {
	t.Helper()
	b := l.openBundle(t)
	must(t, bundle.LoadImages(t.Context(), &dockerengine.Client{}, b, []string{m.image}, nil))
	r := release{stockOf: m, folder: t.TempDir(), version: b.Index.KubernetesVersion}
	last := len(r.version) - 1
	r.next = r.version[:last] + string(r.version[last]+1)
	const name = "e2e-stock"
	_ = exec.Command("docker", "rm", "--force", name).Run() // of a run that was killed
	docker(t, "create", "--name", name, m.image)
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "--force", name, name+"-without").Run() })
	var removed []string
	for _, file := range m.files {
		origin := cmp.Or(file.origin, file.path)
		docker(t, "cp", name+":"+origin, filepath.Join(r.folder, file.served))
		if !slices.Contains(m.kept, origin) {
			removed = append(removed, origin)
		}
	}
	docker(t, "cp", name+":/opt/cni/bin", filepath.Join(r.folder, "cni"))
	if out, err := exec.CommandContext(t.Context(), "tar", "-C", filepath.Join(r.folder, "cni"), "-czf",
		filepath.Join(r.folder, "cni.tgz"), ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.edit(t, "script", "/usr/bin/kubeadm", "/opt/e2e/kubeadm.bin")
	_ = exec.Command("docker", "rm", "--force", name+"-without").Run()
	docker(t, "run", "--name", name+"-without", "--entrypoint", "/bin/sh", m.image, "-c", "rm "+
		strings.Join(removed, " ")+" /opt/cni/bin/*")
	docker(t, "commit", "--change", "ENTRYPOINT "+strings.TrimSpace(docker(t, "image", "inspect", "--format",
		"{{json .Config.Entrypoint}}", m.image)), "--change", "CMD []", name+"-without", m.stock)
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", m.stock).Run() })
	r.address = "http://" + expose(t, http.FileServer(http.Dir(r.folder)))
	return r
}

// withoutKept leaves out what the image has: with Ignition it would be in two places.
func (r release) withoutKept() release {
	kept := func(f machineFile) bool { return slices.Contains(r.kept, f.path) }
	r.files = slices.DeleteFunc(slices.Clone(r.files), kept)
	return r
}

// edit replaces a text in a served file. A file that is not there is left out.
func (r release) edit(t *testing.T, name, old, replacement string) {
	t.Helper()
	path := filepath.Join(r.folder, name)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	must(t, err)
	must(t, os.WriteFile(path, bytes.ReplaceAll(content, []byte(old), []byte(replacement)), 0o755))
}

// served returns the name of a file of a version. It makes the file of the next version: the linker has put the version
// into programs, with a zero after it.
func (r release) served(t *testing.T, file machineFile, version string) string {
	t.Helper()
	if version == r.version || !strings.HasPrefix(file.served, "kube") {
		return file.served
	}
	content, err := os.ReadFile(filepath.Join(r.folder, file.served))
	must(t, err)
	changed := bytes.ReplaceAll(content, []byte(r.version+"\x00"), []byte(version+"\x00"))
	if bytes.Equal(changed, content) {
		t.Fatalf("%s has no version", file.served)
	}
	must(t, os.WriteFile(filepath.Join(r.folder, file.served+version), changed, 0o755))
	return file.served + version
}

// bundleOf returns a copy of a bundle that says that it is of a version.
func (r release) bundleOf(t *testing.T, folder, version string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "bundle")
	out, err := exec.CommandContext(t.Context(), "cp", "--archive", "--link", folder, copied).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	index := filepath.Join(copied, "bundle.json")
	content, err := os.ReadFile(index)
	must(t, err)
	must(t, os.Remove(index)) // a link
	must(t, os.WriteFile(index, bytes.Replace(content, []byte(`"kubernetesVersion": "`+r.version+`"`),
		[]byte(`"kubernetesVersion": "`+version+`"`), 1), 0o644))
	return copied
}

// flipped serves all files by digest, and one of them with a flipped byte.
func (r release) flipped(t *testing.T, bad string) (address string) {
	t.Helper()
	by := map[string]string{"/blobs/sha256:" + r.digest(t, "cni.tgz"): "cni.tgz"}
	for _, file := range r.files {
		by["/blobs/sha256:"+r.digest(t, file.served)] = file.served
	}
	return "http://" + expose(t, http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		content, err := os.ReadFile(filepath.Join(r.folder, by[request.URL.Path]))
		if err != nil {
			http.NotFound(w, request)
			return
		}
		if by[request.URL.Path] == bad {
			content[len(content)/2] ^= 1
		}
		_, _ = w.Write(content)
	})) + "/blobs"
}

func (r release) digest(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.folder, name))
	must(t, err)
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// values are those of machines of the stock image that install a version. further are of the cluster.
func (r release) values(t *testing.T, program program, version string, further map[string]any) string {
	t.Helper()
	file := func(path, name string) map[string]any {
		return map[string]any{"path": path, "sources": map[string]any{"amd64": map[string]any{
			"url": r.address + "/" + name, "sha256": r.digest(t, name)}}}
	}
	files := func(version string) []any {
		cni := file("/opt/cni/bin", "cni.tgz")
		cni["archive"] = true
		all := []any{cni}
		for _, f := range r.files {
			all = append(all, file(f.path, r.served(t, f, version)))
		}
		return all
	}
	// There are no images of the next version.
	const tag = "for i in apiserver controller-manager scheduler proxy; do ctr -n k8s.io images tag --force " +
		"registry.k8s.io/kube-$i:OLD registry.k8s.io/kube-$i:NEW; done"
	cluster := map[string]any{"machineadm": program.values(program.digest), "image": r.stock,
		"kubernetes_source": "boot", "kubernetes_version": version,
		"kubernetes_files": map[string]any{r.version: files(r.version), r.next: files(r.next)},
		"machines": map[string]any{"pre_commands": []any{strings.NewReplacer("OLD", r.version, "NEW", r.next).
			Replace(tag)}}}
	for key, value := range further {
		cluster[key] = value
	}
	return valuesFile(t, map[string]any{"cluster": cluster})
}
