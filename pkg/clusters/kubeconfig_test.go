package clusters

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

const withToken = `apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {server: "https://172.18.0.3:6443"}
contexts:
- name: c
  context: {cluster: c, user: u}
current-context: c
users:
- name: u
  user: {token: t}
`

func TestSaveKubeconfigIsForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "kubeconfig")
	for _, content := range []string{"first", "second"} {
		if err := writeFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("%q %v", got, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600 (%v)", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left beside it: %v (%v)", entries, err)
	}
}

func TestKubeconfigIsKeptForCleanup(t *testing.T) {
	state := t.TempDir()
	for _, path := range []string{filepath.Join(t.TempDir(), "mine"), filepath.Join(state, "kubeconfig")} {
		u := &World{Subject: Subject{KubeconfigPath: path, StateFolder: state}}
		if err := u.save([]byte(path)); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{path, filepath.Join(state, "kubeconfig")} {
			if got, err := os.ReadFile(file); err != nil || string(got) != path {
				t.Errorf("%s: %q %v", file, got, err)
			}
		}
	}
}

// `down` only reads the file of --kubeconfig, which may be the one that kubectl uses for everything.
func TestAFileOfSeveralClustersStays(t *testing.T) {
	ours := fluxserver.KubeconfigOf(t, "ours", "https://a")
	theirs := fluxserver.KubeconfigOf(t, "theirs", "https://b")
	both := strings.Replace(string(ours), "contexts:", "contexts:\n- name: other\n  context: {cluster: c, user: u}", 1)
	moved := fluxserver.KubeconfigOf(t, "ours", "https://c")
	for name, row := range map[string]struct {
		before []byte
		stays  bool
	}{
		"several contexts": {[]byte(both), true}, "another cluster": {theirs, true},
		"the cluster at another address": {moved, false}, "nothing": {nil, false},
	} {
		file, state := filepath.Join(t.TempDir(), "config"), t.TempDir()
		if err := os.WriteFile(file, row.before, 0o600); err != nil {
			t.Fatal(err)
		}
		w := &World{Subject: Subject{KubeconfigPath: file, StateFolder: state}}
		if err := w.save(ours); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(file)
		if err != nil || bytes.Equal(content, ours) == row.stays {
			t.Errorf("%s: stays %t, %v:\n%s", name, !bytes.Equal(content, ours), err, content)
		}
		if want := []string{file, filepath.Join(state, "kubeconfig")}; !row.stays && !slices.Equal(w.filesWith(ours), want) {
			t.Errorf("%s: the files %v have it", name, w.filesWith(ours))
		}
	}
}

// A cluster that was deleted by hand leaves its kubeconfig. Once a new one is being made, a run that is killed must not
// call that file another cluster's.
func TestWhatAnEarlierClusterLeftIsSetAside(t *testing.T) {
	dir := t.TempDir()
	u := &World{Subject: Subject{KubeconfigPath: filepath.Join(dir, "mine"), StateFolder: filepath.Join(dir, "state")},
		Parts: Parts{Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}}
	if err := u.SetAside(); err != nil {
		t.Fatal("nothing is there:", err)
	}
	if err := u.save(fluxserver.KubeconfigOf(t, "earlier", "https://a")); err != nil {
		t.Fatal(err)
	}
	if err := u.SetAside(); err != nil {
		t.Fatal(err)
	}
	if all, err := u.candidates(fluxserver.KubeconfigOf(t, "new", "https://b")); err != nil || len(all) != 1 {
		t.Errorf("%d candidates, %v", len(all), err)
	}
	for _, path := range u.kubeconfigPaths() {
		if content, err := os.ReadFile(path + ".20260102T030405Z"); err != nil ||
			!kube.SameCluster(content, fluxserver.KubeconfigOf(t, "earlier", "")) {
			t.Errorf("%s: it is lost: %v", path, err)
		}
	}
}
