package bootstrap

import (
	"os"
	"path/filepath"
	"testing"
)

const kubeconfig = `apiVersion: v1
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
		if err := saveKubeconfig(path, []byte(content)); err != nil {
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
		u := &Up{Options: Options{KubeconfigPath: path, StateFolder: state}}
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
