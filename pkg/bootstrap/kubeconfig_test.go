package bootstrap

import (
	"os"
	"path/filepath"
	"strings"
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

func TestWithServerKeepsTheNameOfTheCertificate(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0:32768":   "server: https://127.0.0.1:32768",
		"127.0.0.1:32768": "server: https://127.0.0.1:32768",
		"192.0.2.7:6443":  "server: https://192.0.2.7:6443",
		"[::]:32768":      "server: https://127.0.0.1:32768",
	} {
		got, err := withServer([]byte(kubeconfig), address)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{want, "tls-server-name: 172.18.0.3", "token: t"} {
			if !strings.Contains(string(got), line) {
				t.Errorf("%s: %q is not in\n%s", address, line, got)
			}
		}
	}
	if _, err := withServer([]byte(kubeconfig), "no address"); err == nil {
		t.Error("a published address that is none is accepted")
	}
}

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
