package kube

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

// Paths in a kubeconfig count from its folder, as for kubectl, wherever a command is run.
func TestReadFileResolvesFromItsFolder(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, content []byte) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("pki/ca.crt", kubeconfig.Authority(t, "ours"))
	write("token", []byte("t0ken"))
	path := write("config", kubeconfig.Of(t, "", "https://10.0.0.1:6443", func(c *api.Cluster, u *api.AuthInfo) {
		c.CertificateAuthority = "pki/ca.crt"
		*u = api.AuthInfo{TokenFile: "token", Exec: &api.ExecConfig{Command: "./bin/login",
			APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}}
	}))
	t.Chdir(t.TempDir())
	got, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if Compare(got, kubeconfig.Of(t, "ours", "https://b")) != Same {
		t.Error("a cluster is not known by an authority that is a file")
	}
	config, err := clientcmd.Load(got)
	if err != nil {
		t.Fatal(err)
	}
	if u := config.AuthInfos["u"]; u.TokenFile != filepath.Join(folder, "token") || u.Exec.Command != filepath.Join(
		folder, "bin/login") {
		t.Errorf("%s, %s", u.TokenFile, u.Exec.Command)
	}
	if _, err := Connect("any", got, runtime.NewScheme()); err != nil {
		t.Error(err)
	}
}

func TestReadFileSaysWhatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	for name, tc := range map[string]struct{ content, says string }{
		"no YAML":    {"clusters: [", "config"},
		"a web page": {"<html>please log in</html>", "config"},
		"no current context": {strings.Replace(string(kubeconfig.Of(t, "a", "https://a")), "current-context: x", "", 1),
			"current-context"},
		"one that is not": {strings.Replace(string(kubeconfig.Of(t, "a", "https://a")), "current-context: x",
			"current-context: y", 1), "current-context"},
		"a missing file": {string(kubeconfig.Of(t, "", "https://a",
			func(c *api.Cluster, _ *api.AuthInfo) { c.CertificateAuthority = "gone.crt" })), "gone.crt"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadFile(path)
			if got != nil || fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), tc.says) ||
				!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v (%s)", err, fault.CodeOf(err))
			}
		})
	}
	if err := os.WriteFile(path, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path); got != nil || err != nil {
		t.Errorf("an empty file: %s, %v", got, err)
	}
	if _, err := ReadFile(path + "-not"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
