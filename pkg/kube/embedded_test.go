package kube

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

// Whoever can write a Secret must not run a program on the machine of the one who reads it.
func TestEmbeddedRefuses(t *testing.T) {
	type change = func(*api.Cluster, *api.AuthInfo)
	cases := map[string]struct {
		change change
		says   string
	}{
		"a program": {func(_ *api.Cluster, u *api.AuthInfo) {
			u.Exec = &api.ExecConfig{Command: "id",
				APIVersion: "v1"}
		}, "exec"},
		"an auth provider": {func(_ *api.Cluster,
			u *api.AuthInfo) {
			u.AuthProvider = &api.AuthProviderConfig{Name: "oidc"}
		}, "auth-provider"},
		"a certificate's file": {func(_ *api.Cluster, u *api.AuthInfo) { u.ClientCertificate = "/etc/passwd" },
			"client-certificate"},
		"a key's file": {func(_ *api.Cluster, u *api.AuthInfo) { u.ClientKey = "/etc/passwd" },
			"client-key"},
		"a token's file": {func(_ *api.Cluster, u *api.AuthInfo) { u.TokenFile = "/etc/passwd" }, "tokenFile"},
		"an authority's file": {func(c *api.Cluster, _ *api.AuthInfo) { c.CertificateAuthority = "/etc/passwd" },
			"certificate-authority"},
		"a password": {func(_ *api.Cluster, u *api.AuthInfo) { u.Username, u.Password = "a", "hunter2" },
			"username, password"},
		"an impersonation": {func(_ *api.Cluster, u *api.AuthInfo) { u.Impersonate = "root" }, "as"},
		"of a group": {func(_ *api.Cluster, u *api.AuthInfo) { u.ImpersonateGroups = []string{"g"} },
			"as-groups"},
		"by its UID": {func(_ *api.Cluster, u *api.AuthInfo) { u.ImpersonateUID = "1" }, "as-uid"},
		"with more": {func(_ *api.Cluster,
			u *api.AuthInfo) {
			u.ImpersonateUserExtra = map[string][]string{"a": {"b"}}
		}, "as-user-extra"},
		"a proxy": {func(c *api.Cluster, _ *api.AuthInfo) { c.ProxyURL = "http://evil" }, "proxy-url"},
		"any server": {func(c *api.Cluster, _ *api.AuthInfo) { c.InsecureSkipTLSVerify = true },
			"insecure-skip-tls-verify"},
		"http": {func(c *api.Cluster, _ *api.AuthInfo) { c.Server = "http://10.0.0.1:6443" },
			"https"},
		"no scheme": {func(c *api.Cluster, _ *api.AuthInfo) { c.Server = "10.0.0.1:6443" }, "https"},
		"no host":   {func(c *api.Cluster, _ *api.AuthInfo) { c.Server = "https://" }, "https"},
		"a login in the address": {func(c *api.Cluster, _ *api.AuthInfo) { c.Server = "https://u:hunter2@10.0.0.1" },
			"https"},
		"a query": {func(c *api.Cluster, _ *api.AuthInfo) { c.Server = "https://10.0.0.1:6443?a=b" },
			"https"},
		"a fragment": {func(c *api.Cluster, _ *api.AuthInfo) { c.Server = "https://10.0.0.1:6443#a" },
			"https"},
		"no authority": {func(c *api.Cluster, _ *api.AuthInfo) { c.CertificateAuthorityData = nil },
			"certificate-authority-data"},
		"an authority of no form": {func(c *api.Cluster, _ *api.AuthInfo) {
			c.CertificateAuthorityData = []byte(
				"hunter2")
		}, "certificate-authority-data"},
		"an authority that is not": {func(c *api.Cluster, _ *api.AuthInfo) {
			c.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"})
		}, "certificate 1"},
		"a key as an authority": {func(c *api.Cluster,
			u *api.AuthInfo) {
			c.CertificateAuthorityData = u.ClientKeyData
		}, "not PEM certificates"},
		"no credentials":      {func(_ *api.Cluster, u *api.AuthInfo) { *u = api.AuthInfo{} }, "token"},
		"a certificate alone": {func(_ *api.Cluster, u *api.AuthInfo) { u.ClientKeyData = nil }, "only one"},
		"another's key": {func(_ *api.Cluster, u *api.AuthInfo) {
			_, u.ClientKeyData = kubeconfig.Administrator(t, "other", time.Now())
		}, "its key"},
		"a program and a token": {func(_ *api.Cluster, u *api.AuthInfo) {
			u.Token, u.Exec = "t",
				&api.ExecConfig{Command: "id"}
		}, "exec"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Embedded(kubeconfig.Of(t, "ours", "https://10.0.0.1:6443", tc.change))
			if got != nil || fault.CodeOf(err) != fault.KubeconfigRefused || !strings.Contains(err.Error(), tc.says) ||
				fault.HintOf(err) == "" {
				t.Errorf("%s, %v (%s), want it refused with %q", got, err, fault.CodeOf(err), tc.says)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
	for _, text := range []string{"", "{", "<html>", "current-context: x",
		contextAlone, strings.Replace(contextAlone, "}]}", "}], users: [{name: u, user: {token: hunter2}}]}", 1),
		strings.Replace(contextAlone, "}]}", "}], clusters: [{name: c, cluster: {server: https://a}}]}", 1),
		"apiVersion: v1\nkind: Config\nusers: [{name: u, user: {token: [hunter2]}}]"} {
		if got, err := Embedded([]byte(text)); got != nil || fault.CodeOf(err) != fault.KubeconfigRefused ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// The result is the current context alone, without anything hidden in the rest of the file.
func TestEmbeddedKeepsTheCurrentContextOnly(t *testing.T) {
	for name, change := range map[string]func(*api.Cluster, *api.AuthInfo){
		"a certificate": func(*api.Cluster, *api.AuthInfo) {},
		"a token":       func(_ *api.Cluster, u *api.AuthInfo) { *u = api.AuthInfo{Token: "t"} },
		"two authorities": func(c *api.Cluster, _ *api.AuthInfo) {
			c.CertificateAuthorityData = append(c.CertificateAuthorityData, kubeconfig.Authority(t, "next")...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			given := kubeconfig.Of(t, "ours", "https://10.0.0.1:6443", change)
			config, err := clientcmd.Load(given)
			if err != nil {
				t.Fatal(err)
			}
			config.AuthInfos["hidden"] = &api.AuthInfo{Exec: &api.ExecConfig{Command: "id",
				APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}}
			config.Contexts["hidden"] = &api.Context{Cluster: "c", AuthInfo: "hidden"}
			config.Extensions["e"] = &runtime.Unknown{Raw: []byte(`{"a":"hidden"}`)}
			more, err := clientcmd.Write(*config)
			if err != nil || !bytes.Contains(more, []byte("exec")) {
				t.Fatal(err)
			}
			got, err := Embedded(more)
			if err != nil || string(got) != string(given) {
				t.Errorf("%v\n%s\nwant\n%s", err, got, given)
			}
			if _, err := Connect("any", got, runtime.NewScheme()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A kubeconfig of others must not make its reader run out of memory.
func TestAKubeconfigIsReadWithinBounds(t *testing.T) {
	text := "apiVersion: v1\nkind: Config\n" +
		"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n"
	if _, err := Embedded([]byte(text)); fault.CodeOf(err) != fault.KubeconfigRefused {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(file); fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
	if _, err := restConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
}
