//go:build e2e

package e2e

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"net"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshLogin is what a client needs to log in to a server over ssh.
type sshLogin struct{ address, key, knownHosts string }

// sshServer answers the commands of a user who has the key, at a port of the host. It is a stand-in for sshd. answer
// returns the exit code of a command.
func sshServer(t *testing.T, host, user string, answer func(channel ssh.Channel, command string) uint32) sshLogin {
	t.Helper()
	hostKey, clientKey := newKey(t), newKey(t)
	allowed := signer(t, clientKey).PublicKey().Marshal()
	check := func(by ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if by.User() != user || !bytes.Equal(key.Marshal(), allowed) {
			return nil, fmt.Errorf("user %s with this key is unknown", by.User())
		}
		return &ssh.Permissions{}, nil
	}
	config := &ssh.ServerConfig{PublicKeyCallback: check}
	config.AddHostKey(signer(t, hostKey))
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	must(t, err)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { serveSSH(connection, config, answer) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	block, err := ssh.MarshalPrivateKey(clientKey, "")
	must(t, err)
	address := listener.Addr().String()
	return sshLogin{address: address, key: string(pem.EncodeToMemory(block)),
		knownHosts: knownhosts.Line([]string{address}, signer(t, hostKey).PublicKey()) + "\n"}
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	return key
}

// serveSSH answers one connection.
func serveSSH(connection net.Conn, config *ssh.ServerConfig, answer func(ssh.Channel, string) uint32) {
	defer connection.Close()
	_, channels, requests, err := ssh.NewServerConn(connection, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		for request := range requests {
			command := struct{ Line string }{}
			if request.Type != "exec" || ssh.Unmarshal(request.Payload, &command) != nil {
				_ = request.Reply(false, nil)
				continue
			}
			_ = request.Reply(true, nil)
			status := answer(channel, command.Line)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			break
		}
		_ = channel.Close()
	}
}
