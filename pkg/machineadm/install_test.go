package machineadm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// server serves files by path, after a number of failures.
type server struct {
	files    map[string]string
	failures int
	asked    int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked++
	content, known := s.files[r.URL.Path]
	switch {
	case s.failures > 0:
		s.failures--
		http.Error(w, "later", http.StatusServiceUnavailable)
	case !known:
		http.NotFound(w, r)
	default:
		_, _ = w.Write([]byte(content))
	}
}

func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// archiveOf returns a tar.gz with one entry.
func archiveOf(t *testing.T, entry tar.Header, content string) string {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	entry.Size = int64(len(content))
	_, err := archive.Write(nil)
	if err = errors.Join(err, archive.WriteHeader(&entry)); err != nil {
		t.Fatal(err)
	}
	_, err = archive.Write([]byte(content))
	if err = errors.Join(err, archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// stockMachine returns a machine without Kubernetes that installs a program and an archive from a server.
func stockMachine(t *testing.T, s *server, programDigest, archiveDigest string) machine {
	t.Helper()
	address := httptest.NewServer(s)
	t.Cleanup(address.Close)
	source := func(path, digest string) map[string]any {
		return map[string]any{runtime.GOARCH: map[string]any{"url": address.URL + path, "sha256": digest}}
	}
	config, err := json.Marshal(map[string]any{"apiVersion": machineadm.APIVersion, "kind": machineadm.ConfigKind,
		"containerd": map[string]any{}, "kubernetes": map[string]any{"version": "v1.36.4", "files": []any{
			map[string]any{"path": "/opt/bin/kubeadm", "sources": source("/kubeadm", programDigest)},
			map[string]any{"path": "/opt/cni/bin", "archive": true, "sources": source("/cni.tgz", archiveDigest)}}},
		"staticPods": []any{map[string]any{"name": "agent", "content": pod}}})
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, string(config))
	for _, path := range []string{"bin/kubeadm", "etc/containerd"} {
		if err := os.RemoveAll(filepath.Join(m.root, path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"containerd", "kubelet"} {
		m.put(t, "bin/"+program, "#!/bin/sh\n", 0o755)
	}
	m.put(t, "containerd-version", "containerd github.com/containerd/containerd/v2 v2.3.4 abcdef0\n", 0o644)
	m.Host.Fetcher.Patience, m.Host.Fetcher.Delay = time.Millisecond, time.Millisecond
	m.Host.Run = func(_ context.Context, name string, args ...string) (string, error) {
		*m.ran = append(*m.ran, strings.Join(append([]string{name}, args...), " "))
		if name == "containerd" {
			return m.content(t, "containerd-version"), nil
		}
		return "v1.36.4\n", nil
	}
	return m
}

// A stock image gets the programs, their units, and a configuration of containerd, each once.
func TestInstall(t *testing.T) {
	archive := archiveOf(t, tar.Header{Name: "./bridge", Mode: 0o755, Typeflag: tar.TypeReg}, "cni")
	s := &server{files: map[string]string{"/kubeadm": "kubeadm", "/cni.tgz": archive}}
	m := stockMachine(t, s, digestOf("kubeadm"), digestOf(archive))
	for range 2 {
		if _, err := m.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"opt/bin/kubeadm": "kubeadm", "opt/cni/bin/bridge": "cni",
		"etc/containerd/config.toml": "config_path", "etc/systemd/system/containerd.service": "/bin/containerd",
		"etc/systemd/system/kubelet.service": "/bin/kubelet --bootstrap-kubeconfig="} {
		if got := m.content(t, path); !strings.Contains(got, want) {
			t.Errorf("%s has %q", path, got)
		}
	}
	for _, path := range []string{"opt/bin/kubeadm", "opt/cni/bin/bridge"} {
		if info, err := os.Stat(filepath.Join(m.root, path)); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if s.asked != 2 {
		t.Errorf("%d requests", s.asked)
	}
	m.put(t, "opt/bin/kubeadm", "another", 0o755)
	if _, err := m.Prepare(t.Context()); err != nil || m.content(t, "opt/bin/kubeadm") != "kubeadm" || s.asked != 3 {
		t.Errorf("%v, %q after %d requests", err, m.content(t, "opt/bin/kubeadm"), s.asked)
	}
}

// What cannot be had ends the preparation, by the name of the file. Nothing of it is left, and nothing ran.
func TestInstallFails(t *testing.T) {
	const good = "kubeadm"
	link := tar.Header{Name: "bridge", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}
	for name, tc := range map[string]struct {
		program, want string
		archive       tar.Header
		missing       bool
	}{
		"a flipped byte": {"kubeadM", "/kubeadm begins with " + digestOf("kubeadM")[:12] + ", want " + digestOf(good)[:12],
			tar.Header{}, false},
		"not there": {good, "install /opt/bin/kubeadm: fetch http://", tar.Header{}, true},
		"outside":   {good, `the archive has "../../evil"`, tar.Header{Name: "../../evil", Typeflag: tar.TypeReg}, false},
		"absolute":  {good, `the archive has "/evil"`, tar.Header{Name: "/evil", Typeflag: tar.TypeReg}, false},
		"a link":    {good, `the archive has "bridge"`, link, false},
	} {
		t.Run(name, func(t *testing.T) {
			archive := archiveOf(t, tc.archive, "")
			s := &server{files: map[string]string{"/kubeadm": tc.program, "/cni.tgz": archive}}
			if tc.missing {
				delete(s.files, "/kubeadm")
			}
			m := stockMachine(t, s, digestOf(good), digestOf(archive))
			_, err := m.Prepare(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(*m.ran) > 0 {
				t.Errorf("%v after %q, want %q", err, *m.ran, tc.want)
			}
			left, globErr := filepath.Glob(filepath.Join(m.root, "opt/*/.machineadm-*"))
			if len(left) > 0 || globErr != nil || m.content(t, "etc/kubernetes/manifests/agent.yaml") != "" {
				t.Errorf("left are %q (%v)", left, globErr)
			}
		})
	}
}

// machineadm repeats a fetch that fails.
func TestInstallWaitsForTheServer(t *testing.T) {
	archive := archiveOf(t, tar.Header{Name: "bridge", Typeflag: tar.TypeReg}, "cni")
	s := &server{failures: 2, files: map[string]string{"/kubeadm": "kubeadm", "/cni.tgz": archive}}
	m := stockMachine(t, s, digestOf("kubeadm"), digestOf(archive))
	m.Host.Fetcher.Patience = 20 * time.Second
	if _, err := m.Prepare(t.Context()); err != nil || s.asked != 4 {
		t.Errorf("%v after %d requests", err, s.asked)
	}
}

// A fetch is repeated when the server stops in the middle of a file.
func TestFetchFromAServerThatStops(t *testing.T) {
	var asked atomic.Int32
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := asked.Add(1) == 1
		_, _ = w.Write([]byte("kube"))
		if first {
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-ended:
			}
			return
		}
		_, _ = w.Write([]byte("adm"))
	}))
	defer server.Close()
	defer close(ended)
	fetcher := machineadm.Fetcher{Idle: 50 * time.Millisecond, Delay: time.Millisecond}
	source := machineadm.Source{URL: server.URL, SHA256: digestOf("kubeadm")}
	if _, err := fetcher.Fetch(t.Context(), nil, source, t.TempDir()); err != nil || asked.Load() != 2 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// A program of another release than the wanted one is named.
func TestInstalledVersions(t *testing.T) {
	for program, want := range map[string]string{
		"kubeadm": "compare the version of kubeadm: what was installed is v1.36.3, want v1.36.4",
		"kubelet": "compare the version of the kubelet: what was installed is v1.36.3, want v1.36.4"} {
		archive := archiveOf(t, tar.Header{Name: "bridge", Typeflag: tar.TypeReg}, "cni")
		s := &server{files: map[string]string{"/kubeadm": "kubeadm", "/cni.tgz": archive}}
		m := stockMachine(t, s, digestOf("kubeadm"), digestOf(archive))
		run := m.Host.Run
		m.Host.Run = func(ctx context.Context, name string, args ...string) (string, error) {
			if filepath.Base(name) == program {
				return "Kubernetes v1.36.3\n", nil
			}
			return run(ctx, name, args...)
		}
		if _, err := m.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// /bin is a link to /usr/bin in most images: a program there is in its place.
func TestInstallWhereTheImageHasIt(t *testing.T) {
	archive := archiveOf(t, tar.Header{Name: "bridge", Typeflag: tar.TypeReg}, "cni")
	s := &server{files: map[string]string{"/kubeadm": "kubeadm", "/cni.tgz": archive}}
	m := stockMachine(t, s, digestOf("kubeadm"), digestOf(archive))
	m.put(t, "opt/bin/kubeadm", "another", 0o755)
	if err := os.Symlink(filepath.Join(m.root, "opt/bin/kubeadm"), filepath.Join(m.root, "bin/kubeadm")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Prepare(t.Context()); err != nil || m.content(t, "opt/bin/kubeadm") != "kubeadm" {
		t.Error(err)
	}
}

// A mirror serves the files by digest, in place of their own addresses.
func TestInstallFromAMirror(t *testing.T) {
	archive := archiveOf(t, tar.Header{Name: "bridge", Typeflag: tar.TypeReg}, "cni")
	m := stockMachine(t, &server{}, digestOf("kubeadm"), digestOf(archive))
	mirror := httptest.NewServer(&server{files: map[string]string{"/blobs/sha256:" + digestOf("kubeadm"): "kubeadm",
		"/blobs/sha256:" + digestOf(archive): archive}})
	t.Cleanup(mirror.Close)
	const config = "etc/machineadm/machine.yaml"
	m.put(t, config, strings.Replace(m.content(t, config), `"version":`, `"mirror":"`+mirror.URL+`/blobs/","version":`, 1),
		0o600)
	if _, err := m.Prepare(t.Context()); err != nil || m.content(t, "opt/bin/kubeadm") != "kubeadm" {
		t.Error(err)
	}
	mirror.Close()
	if err := os.Remove(filepath.Join(m.root, "opt/bin/kubeadm")); err != nil {
		t.Fatal(err)
	}
	want := "install /opt/bin/kubeadm: fetch " + mirror.URL + "/blobs/sha256:" + digestOf("kubeadm") + ": dial tcp "
	if _, err := m.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// What the image brings must not stand in the way.
func TestInstallInAnImageThatHasSomething(t *testing.T) {
	for name, tc := range map[string]struct{ path, content, want string }{
		"a kubeadm elsewhere": {"usr/bin/kubeadm", "", "it has /usr/bin/kubeadm, and machineadm installs /opt/bin/kubeadm"},
		"an old containerd": {"containerd-version", "containerd github.com/containerd/containerd v1.7.24 abcdef0",
			"containerd 1 is not supported without a configuration of its own"},
		"an unknown containerd": {"containerd-version", "containerd next", "the version of containerd is not known"},
	} {
		archive := archiveOf(t, tar.Header{Name: "bridge", Typeflag: tar.TypeReg}, "cni")
		s := &server{files: map[string]string{"/kubeadm": "kubeadm", "/cni.tgz": archive}}
		m := stockMachine(t, s, digestOf("kubeadm"), digestOf(archive))
		m.put(t, tc.path, tc.content, 0o755)
		if _, err := m.Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// kubeadm is looked for after it was installed.
func TestKubeadmThatWasInstalled(t *testing.T) {
	const program = "#!/bin/sh\nexit 7\n"
	archive := archiveOf(t, tar.Header{Name: "bridge", Typeflag: tar.TypeReg}, "cni")
	s := &server{files: map[string]string{"/kubeadm": program, "/cni.tgz": archive}}
	m := stockMachine(t, s, digestOf(program), digestOf(archive))
	if code, out := m.kubeadm(t, "", "init"); code != 7 {
		t.Errorf("ended with %d: %s", code, out)
	}
}
