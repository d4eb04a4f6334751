package source

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A server of a private authority can be read with its certificate, and Flux gets that as well.
func TestPrivateAuthority(t *testing.T) {
	prerequisite.Program(t, "git")
	server := gitServer(t)
	signer := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	ca, err := ReadCA(write(t, "# our own\n"+signer))
	if err != nil {
		t.Fatal(err)
	}
	s := Source{Kind: Git, Git: flux.GitSource{URL: server.URL + "/repo.git", Branch: "main"}, Username: "me",
		Password: "token", CA: ca}
	if err := s.Verify(t.Context(), content.Proxies{}); err != nil {
		t.Errorf("with its certificate: %v", err)
	}
	r := Repository{URL: s.Git.URL, Username: "me", Password: "token", Tag: "v1", CA: ca}
	if err := r.Verify(t.Context(), content.Proxies{}); err != nil {
		t.Errorf("a component's repository: %v", err)
	}
	without := s
	without.CA = nil
	checkUnreadable(t, without.Verify(t.Context(), content.Proxies{}), "certificate", "--source-ca-file")

	for name, from := range map[string]Source{"git": s, "git without a login": {Kind: Git, Git: s.Git, CA: ca},
		"oci": {Kind: OCI, Content: flux.OCIArtifact{URL: "oci://h/c"}, Chart: flux.OCIArtifact{URL: "oci://h/d"},
			CA: ca}} {
		secrets, referred := map[string]string{}, map[string]bool{}
		for _, object := range from.Objects(content.Published{}) {
			switch o := object.(type) {
			case *corev1.Secret:
				secrets[o.Name] = string(o.Data["ca.crt"])
			case *sourcev1.GitRepository:
				referred[o.Spec.SecretRef.Name] = true
			case *sourcev1.OCIRepository:
				referred[o.Spec.CertSecretRef.Name] = true
			}
		}
		if len(referred) != 1 {
			t.Errorf("%s: Flux reads %v", name, referred)
		}
		for secret := range referred {
			if secrets[secret] != signer {
				t.Errorf("%s: Secret %s holds %q", name, secret, secrets[secret])
			}
		}
	}
}

func TestReadCARefuses(t *testing.T) {
	for name, test := range map[string]struct{ file, want string }{
		"no file":  {"/nonexistent", "no such file"},
		"a folder": {t.TempDir(), "is a directory"},
		"nothing":  {write(t, ""), "it contains none"},
		"DER":      {write(t, "\x30\x82"), "it contains none"},
		"a key": {write(t, "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"),
			"it contains a PRIVATE KEY"},
		"no certificate": {write(t, "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"), "x509"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadCA(test.file)
			if fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), test.want) ||
				fault.HintOf(err) == "" {
				t.Errorf("%s: %v, want %q", fault.CodeOf(err), err, test.want)
			}
		})
	}
}
