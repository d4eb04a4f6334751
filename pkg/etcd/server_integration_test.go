//go:build integration

package etcd_test

import (
	"crypto/x509"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/cluster-api/util/certs"

	"github.com/cluster-init/cluster-init/pkg/etcd"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// newAuthority makes an authority of etcd.
func newAuthority(t *testing.T) etcd.Authority {
	t.Helper()
	key, err := certs.NewPrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	own, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "etcd-ca"}, key)
	if err != nil {
		t.Fatal(err)
	}
	return etcd.Authority{Certificate: certs.EncodeCertPEM(own), Key: certs.EncodePrivateKeyPEM(key)}
}

// serve runs an etcd whose clients need a certificate of the authority, and returns its address.
func serve(t *testing.T, a etcd.Authority) string {
	t.Helper()
	program, err := apiserver.EtcdProgram()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := servingFiles(t, dir, a)
	client, peer := freeAddress(t), freeAddress(t)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(program, "--name=one", "--data-dir="+filepath.Join(dir, "data"),
		"--listen-client-urls=https://"+client, "--advertise-client-urls=https://"+client,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer,
		"--initial-cluster=one=http://"+peer, "--client-cert-auth", "--trusted-ca-file="+files["ca.crt"],
		"--cert-file="+files["server.crt"], "--key-file="+files["server.key"], "--unsafe-no-fsync")
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = log.Close()
	})
	return client
}

// servingFiles writes a certificate of a server, with its key and authority.
func servingFiles(t *testing.T, dir string, a etcd.Authority) map[string]string {
	t.Helper()
	authority, err := certs.DecodeCertPEM(a.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := certs.DecodePrivateKeyPEM(a.Key)
	if err != nil {
		t.Fatal(err)
	}
	key, err := certs.NewPrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	config := certs.Config{CommonName: "one", AltNames: certs.AltNames{DNSNames: []string{"localhost"}},
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	own, err := config.NewSignedCert(key, authority, signer)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, text := range map[string][]byte{"ca.crt": a.Certificate, "server.crt": certs.EncodeCertPEM(own),
		"server.key": certs.EncodePrivateKeyPEM(key)} {
		files[name] = filepath.Join(dir, name)
		if err := os.WriteFile(files[name], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
