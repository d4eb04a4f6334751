// Package sshgit is a git server over ssh that knows one key and one repository with one branch. Only tests import it.
package sshgit

import (
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/cluster-init/cluster-init/pkg/internal/sshserver"
)

// Server is one that runs until the test ends.
type Server struct {
	sshserver.Server
	// EncryptedKey is the file of Key, encrypted with Passphrase.
	EncryptedKey string
	Passphrase   string
}

// Refs is what the server advertises: the branch main.
const Refs = "003dd670460b4b4aece5915caf5c68d12f560a9fe3e4 refs/heads/main\n0000"

// Start starts a server with repository /repo.git and writes its client's files to dir.
func Start(t *testing.T, dir string) Server {
	t.Helper()
	s := Server{Server: sshserver.Start(t, dir, "git", answer), Passphrase: "passphrase-s3cret",
		EncryptedKey: filepath.Join(dir, "encrypted-key")}
	encrypted, err := ssh.MarshalPrivateKeyWithPassphrase(s.Private, "", []byte(s.Passphrase))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.EncryptedKey, pem.EncodeToMemory(encrypted), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// answer answers `git-upload-pack '/repo.git'` with Refs, all else with a complaint.
func answer(channel ssh.Channel, line string) uint32 {
	if line == "git-upload-pack '/repo.git'" {
		_, _ = io.WriteString(channel, Refs)
		return 0
	}
	_, _ = fmt.Fprintf(channel.Stderr(), "ERROR: no such repository: %s\n", line)
	return 1
}
