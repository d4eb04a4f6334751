// Package sshserver is an ssh server that knows one user and one key. Only tests import it.
package sshserver

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
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
	// Files of a client: the key that the server knows, one that it does not know, its own key as known_hosts, and
	// another server's under its name.
	Key, OtherKey, KnownHosts, OtherKnownHosts string
	// Private is what Key has.
	Private ed25519.PrivateKey
}

// Answer serves one command line: it reads and writes channel, and returns the exit code.
type Answer func(channel ssh.Channel, line string) uint32

// Start starts a server that lets a user in with one key, and writes its client's files to dir.
func Start(t *testing.T, dir, user string, answer Answer) Server {
	t.Helper()
	s := Server{Private: key(t)}
	host, other := key(t), key(t)
	known := string(signer(t, s.Private).PublicKey().Marshal())
	config := &ssh.ServerConfig{PublicKeyCallback: func(by ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions,
		error) {
		if by.User() == user && string(offered.Marshal()) == known {
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
			go serve(connection, config, answer)
		}
	}()
	write := func(name string, text []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	s.Key, s.OtherKey = write("key", plain(t, s.Private)), write("other-key", plain(t, other))
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

// serve answers one client. A command is the only request of a session that it knows.
func serve(connection net.Conn, config *ssh.ServerConfig, answer Answer) {
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
			status := answer(channel, command.Text)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			channel.Close()
		}
	}
}
