//go:build e2e

package e2e

import (
	"crypto/ed25519"
	"encoding/pem"
	"net"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cluster-init/cluster-init/pkg/flux"
)

// otherHost is an ssh server with another host key than the one that the Secret fault-ssh of Flux knows. No one gets
// further than that.
func (c cluster) otherHost(t *testing.T) string {
	t.Helper()
	_, host, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer(t, host))
	var served sync.WaitGroup
	served.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _, _, _ = ssh.NewServerConn(connection, config) // the client hangs up
			_ = connection.Close()
		}
	})
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	identity, err := ssh.MarshalPrivateKey(other, "")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: "fault-ssh"},
		Data: map[string][]byte{
			"identity":    pem.EncodeToMemory(identity),
			"known_hosts": []byte(knownhosts.Line([]string{address}, signer(t, other).PublicKey()) + "\n")}}
	if err := c.ApplyAll(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	return address
}

func signer(t *testing.T, key ed25519.PrivateKey) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
