//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
)

// sshTo lets the real ssh log in to a machine of the lab as root. The machine has no sshd: the stand-in gives each
// command line to the machine's shell with docker exec. folder is for PATH: it has a program ssh that starts the real
// one with a configuration for this.
func sshTo(t *testing.T, machine string) (folder, address string) {
	t.Helper()
	openSSH, err := exec.LookPath("ssh")
	must(t, err)
	login := sshServer(t, "127.0.0.1", "root", func(channel ssh.Channel, line string) uint32 {
		return runLine(channel, machine, line)
	})
	_, port, err := net.SplitHostPort(login.address)
	must(t, err)
	folder = t.TempDir()
	for name, content := range map[string]string{
		"key": login.key, "known_hosts": login.knownHosts,
		"config": fmt.Sprintf("Host survivor\n HostName 127.0.0.1\n Port %s\n IdentityFile %s/key\n"+
			" IdentitiesOnly yes\n IdentityAgent none\n UserKnownHostsFile %s/known_hosts\n", port, folder, folder),
	} {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s -F %s/config \"$@\"\n", openSSH, folder)
	must(t, os.WriteFile(filepath.Join(folder, "ssh"), []byte(script), 0o755))
	return folder, "root@survivor"
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
