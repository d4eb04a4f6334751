//go:build e2e

package e2e

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshLogin is what a client needs to read from a server over ssh.
type sshLogin struct{ address, key, knownHosts string }

// sshServer serves the repositories below root over ssh, for reading, to who has the key.
func sshServer(t *testing.T, root string) sshLogin {
	t.Helper()
	hostKey, clientKey := newKey(t), newKey(t)
	allowed := signer(t, clientKey).PublicKey().Marshal()
	check := func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if !bytes.Equal(key.Marshal(), allowed) {
			return nil, errors.New("unknown key")
		}
		return &ssh.Permissions{}, nil
	}
	config := &ssh.ServerConfig{PublicKeyCallback: check}
	config.AddHostKey(signer(t, hostKey))
	listener, err := net.Listen("tcp", net.JoinHostPort(gateway(t), "0"))
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { serveSSH(connection, config, root) })
		}
	})
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	block, err := ssh.MarshalPrivateKey(clientKey, "")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	return sshLogin{address: address, key: string(pem.EncodeToMemory(block)),
		knownHosts: knownhosts.Line([]string{address}, signer(t, hostKey).PublicKey()) + "\n"}
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// serveSSH answers one connection.
func serveSSH(connection net.Conn, config *ssh.ServerConfig, root string) {
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
			if request.Type != "exec" || len(request.Payload) < 4 {
				_ = request.Reply(false, nil)
				continue
			}
			_ = request.Reply(true, nil)
			status := uploadPack(channel, root, string(request.Payload[4:]))
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			break
		}
		_ = channel.Close()
	}
}

// uploadPack sends a repository below root to a client that asked for `git-upload-pack 'PATH'`.
func uploadPack(channel ssh.Channel, root, command string) uint32 {
	name, is := strings.CutPrefix(command, "git-upload-pack ")
	if !is {
		return 1
	}
	folder := filepath.Join(root, filepath.Base(strings.Trim(name, "'/")))
	c := exec.Command("git", "upload-pack", folder)
	c.Env = append(gitEnvironment(), "PATH="+os.Getenv("PATH"))
	c.Stdin, c.Stdout = channel, channel
	if c.Run() != nil {
		return 1
	}
	return 0
}
