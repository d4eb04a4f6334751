package main

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newAuthorities makes all certificate authorities in a new root.
func newAuthorities(t *testing.T) paths {
	t.Helper()
	p := paths{root: t.TempDir()}
	if err := ensureAuthorities(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestAuthoritiesThatAreThereAreKept(t *testing.T) {
	p := newAuthorities(t)
	before := read(t, filepath.Join(p.tls(), "server-ca.crt"))
	if err := ensureAuthorities(p); err != nil {
		t.Fatal(err)
	}
	if string(read(t, filepath.Join(p.tls(), "server-ca.crt"))) != string(before) {
		t.Error("a second start made another authority")
	}
	if err := os.Remove(filepath.Join(p.tls(), "etcd", "peer-ca.key")); err != nil {
		t.Fatal(err)
	}
	if err := ensureAuthorities(p); err == nil || !strings.Contains(err.Error(), "etcd/peer-ca") {
		t.Errorf("an authority without its key: %v", err)
	}
}

func TestIssue(t *testing.T) {
	p := newAuthorities(t)
	signer, err := readAuthority(p, clientCA)
	if err != nil {
		t.Fatal(err)
	}
	certificate, _, err := signer.issue(x509.Certificate{
		Subject: pkix.Name{CommonName: "system:admin"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := placeAuthorities(p); err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(certificate)
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	// The API server's file accepts it; the cluster's own authority alone would not.
	for name, fine := range map[string]bool{clientAuthorities: true, "ca.crt": false} {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(read(t, filepath.Join(p.pki(), name))) {
			t.Fatalf("%s holds no certificate", name)
		}
		_, err := parsed.Verify(x509.VerifyOptions{Roots: pool,
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if (err == nil) != fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMaterialGoesFromServerToServer(t *testing.T) {
	from, to := newAuthorities(t), paths{root: t.TempDir()}
	for _, name := range kubeadmKeys {
		if err := writeFile(filepath.Join(from.pki(), name), []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	handed, err := readMaterial(from)
	if err != nil {
		t.Fatal(err)
	}
	handed["../../../etc/passwd"] = []byte("never written")
	if err := handed.write(to); err != nil {
		t.Fatal(err)
	}
	for name, file := range materialFiles(to) {
		if string(read(t, file)) != string(handed[name]) {
			t.Errorf("%s differs", name)
		}
		info, err := os.Stat(file)
		if err != nil || strings.HasSuffix(name, ".key") != (info.Mode().Perm() == 0o600) {
			t.Errorf("%s: %v (%v)", name, info.Mode(), err)
		}
	}
	delete(handed, "pki/sa.key")
	if err := handed.write(to); err == nil || !strings.Contains(err.Error(), "pki/sa.key") {
		t.Errorf("got %v", err)
	}
}

func TestServingCertificate(t *testing.T) {
	p := newAuthorities(t)
	own := machine{name: "one", address: "172.18.0.4"}
	_, _, pair, err := own.servingCertificate(p, config{tlsSan: []string{"lb.example", "172.18.0.3"}})
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(read(t, filepath.Join(p.tls(), "server-ca.crt")))
	for _, name := range []string{"one", "lb.example", "172.18.0.3", "172.18.0.4", "127.0.0.1"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: pool}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
