//go:build e2e

package e2e

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshTo lets the real ssh log in to a machine of the lab as root. The machine has no sshd: a stand-in for it, in this
// process, checks the key of the client and gives each command line to the machine's shell with docker exec. folder is
// for PATH: it has a program ssh that starts the real one with a configuration for this.
func sshTo(t *testing.T, machine string) (folder, address string) {
	t.Helper()
	openSSH, err := exec.LookPath("ssh")
	must(t, err)
	_, host, err := ed25519.GenerateKey(nil)
	must(t, err)
	_, client, err := ed25519.GenerateKey(nil)
	must(t, err)
	config := &ssh.ServerConfig{PublicKeyCallback: func(by ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions,
		error) {
		if by.User() != "root" || string(key.Marshal()) != string(signer(t, client).PublicKey().Marshal()) {
			return nil, fmt.Errorf("user %s with an unknown key", by.User())
		}
		return nil, nil
	}}
	config.AddHostKey(signer(t, host))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var served sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	served.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { serveShell(connection, config, machine) })
		}
	})
	folder = t.TempDir()
	block, err := ssh.MarshalPrivateKey(client, "")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "key"), pem.EncodeToMemory(block), 0o600))
	known := knownhosts.Line([]string{listener.Addr().String()}, signer(t, host).PublicKey())
	must(t, os.WriteFile(filepath.Join(folder, "known_hosts"), []byte(known+"\n"), 0o600))
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "config"), []byte(fmt.Sprintf("Host survivor\n HostName 127.0.0.1\n"+
		" Port %s\n IdentityFile %s/key\n IdentitiesOnly yes\n IdentityAgent none\n UserKnownHostsFile %s/known_hosts\n",
		port, folder, folder)), 0o600))
	script := fmt.Sprintf("#!/bin/sh\nexec %s -F %s/config \"$@\"\n", openSSH, folder)
	must(t, os.WriteFile(filepath.Join(folder, "ssh"), []byte(script), 0o755))
	return folder, "root@survivor"
}

// serveShell runs the command lines of one client on the machine, as sshd does.
func serveShell(connection net.Conn, config *ssh.ServerConfig, machine string) {
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
			status := runLine(channel, machine, command.Line)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			_ = channel.Close()
		}
	}
}

func runLine(channel ssh.Channel, machine, line string) uint32 {
	c := exec.Command("docker", "exec", "--interactive", machine, "sh", "-c", line)
	c.Stdout, c.Stderr = channel, channel.Stderr()
	input, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return 126
	}
	go func() { _, _ = io.Copy(input, channel); _ = input.Close() }() // ends with the channel
	_ = c.Wait()
	return uint32(c.ProcessState.ExitCode())
}
