//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// gitOf answers `git-upload-pack`, for the repositories below root.
func gitOf(root string) func(ssh.Channel, string) uint32 {
	return func(channel ssh.Channel, command string) uint32 { return uploadPack(channel, root, command) }
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
