// Package sshgit is a git server over ssh that knows one key and one repository with one branch. Only tests import it.
package sshgit

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Server is one that runs until the test ends.
type Server struct {
	Address string // host:port
	// Files of a client: the key that the server knows, the same encrypted with Passphrase, one that it does not know,
	// its own key as known_hosts, and another server's under its name.
	Key, EncryptedKey, OtherKey, KnownHosts, OtherKnownHosts string
	// Passphrase of EncryptedKey.
	Passphrase string
}

// Refs is what the server advertises: the branch main.
const Refs = "003dd670460b4b4aece5915caf5c68d12f560a9fe3e4 refs/heads/main\n0000"

// Start starts a server with repository /repo.git and writes its client's files to dir.
func Start(t *testing.T, dir string) Server {
	t.Helper()
	s := Server{Passphrase: "passphrase-s3cret"}
	host, client, other := key(t), key(t), key(t)
	config := &ssh.ServerConfig{PublicKeyCallback: func(user ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions,
		error) {
		if user.User() == "git" && string(offered.Marshal()) == string(signer(t, client).PublicKey().Marshal()) {
			return nil, nil
		}
		return nil, errors.New("unknown")
	}}
	config.AddHostKey(signer(t, host))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s.Address = listener.Addr().String()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(connection, config)
		}
	}()
	write := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	encrypted, err := ssh.MarshalPrivateKeyWithPassphrase(client, "", []byte(s.Passphrase))
	if err != nil {
		t.Fatal(err)
	}
	s.Key, s.OtherKey, s.EncryptedKey = write("key", plain(t, client)), write("other-key", plain(t, other)),
		write("encrypted-key", pem.EncodeToMemory(encrypted))
	line := func(of ed25519.PrivateKey) []byte {
		return []byte("# " + s.Address + "\n" + knownhosts.Line([]string{s.Address}, signer(t, of).PublicKey()) + "\n")
	}
	s.KnownHosts, s.OtherKnownHosts = write("known_hosts", line(host)), write("other_known_hosts", line(other))
	return s
}

func key(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

func plain(t *testing.T, private ed25519.PrivateKey) []byte {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block)
}

func signer(t *testing.T, private ed25519.PrivateKey) ssh.Signer {
	t.Helper()
	made, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// serve answers one client: `git-upload-pack '/repo.git'` with Refs, all else with a complaint.
func serve(connection net.Conn, config *ssh.ServerConfig) {
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
			command := struct{ Text string }{}
			if request.Type != "exec" || ssh.Unmarshal(request.Payload, &command) != nil {
				_ = request.Reply(false, nil)
				continue
			}
			_ = request.Reply(true, nil)
			status := uint32(0)
			if command.Text == "git-upload-pack '/repo.git'" {
				_, _ = io.WriteString(channel, Refs)
			} else {
				status = 1
				_, _ = fmt.Fprintf(channel.Stderr(), "ERROR: no such repository: %s\n", command.Text)
			}
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			channel.Close()
		}
	}
}
