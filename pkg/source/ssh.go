package source

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// SSHKey authenticates to a git server over ssh.
type SSHKey struct {
	// Identity is the private key as its file contains it, encrypted if there is a Passphrase.
	Identity, Passphrase []byte
	// KnownHosts are the servers' keys, as OpenSSH writes them.
	KnownHosts []byte

	knownHostsFile string
	signer         ssh.Signer
}

const hintKey = "Create a key for this purpose, without a passphrase: ssh-keygen -t ed25519 -N '' -f deploy-key"

// ReadSSHKey reads a private key and the servers' keys from files. An encrypted key needs a passphrase. Its errors are
// faults Usage and contain nothing of the key.
func ReadSSHKey(identityFile, knownHostsFile, passphrase string) (*SSHKey, error) {
	key := &SSHKey{knownHostsFile: knownHostsFile}
	return key, fault.Join(key.readIdentity(identityFile, passphrase), key.readKnownHosts(knownHostsFile))
}

func (k *SSHKey) readIdentity(file, passphrase string) error {
	info, err := regular(file)
	if err == nil && strings.HasSuffix(file, ".pub") {
		return fault.New(fault.Usage, fmt.Sprintf("private key %s: it is a public key", file),
			"Set --source-ssh-key to the file of the same name without .pub.")
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.Usage, fmt.Sprintf("private key %s: other users can read it (mode %04o)", file,
			info.Mode().Perm()), "Run: chmod 600 "+oneline.Shell(file))
	}
	if err == nil {
		k.Identity, err = os.ReadFile(file)
	}
	if err != nil {
		return fault.Wrap(fmt.Errorf("read the private key: %w", err), fault.Usage,
			"Set --source-ssh-key to the file of a private key.")
	}
	if k.signer, err = ssh.ParsePrivateKey(k.Identity); err == nil {
		return nil
	}
	if _, encrypted := errors.AsType[*ssh.PassphraseMissingError](err); !encrypted {
		return fault.New(fault.Usage, fmt.Sprintf("private key %s: not a private key of OpenSSH", file),
			hintKey)
	}
	if passphrase == "" {
		return fault.New(fault.Usage, fmt.Sprintf("private key %s: it is encrypted, and there is no passphrase", file),
			"Set CLUSTER_INIT_SSH_PASSPHRASE to its passphrase.\n"+hintKey)
	}
	if k.signer, err = ssh.ParsePrivateKeyWithPassphrase(k.Identity, []byte(passphrase)); err != nil {
		return fault.New(fault.Usage, fmt.Sprintf("private key %s: the passphrase does not decrypt it", file),
			"Set CLUSTER_INIT_SSH_PASSPHRASE to its passphrase.")
	}
	k.Passphrase = []byte(passphrase)
	return nil
}

func (k *SSHKey) readKnownHosts(file string) (err error) {
	if _, err = regular(file); err == nil {
		k.KnownHosts, err = os.ReadFile(file)
	}
	if err != nil {
		return fault.Wrap(fmt.Errorf("read the known hosts: %w", err), fault.Usage,
			"Set --source-known-hosts to a file with the server's key.")
	}
	for line := range bytes.Lines(k.KnownHosts) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			_, err := knownhosts.New(file)
			return fault.Wrap(err, fault.Usage, "Fix the file of --source-known-hosts: ssh-keyscan prints "+
				"its format.")
		}
	}
	return fault.New(fault.Usage, fmt.Sprintf("known hosts %s: it contains no key", file),
		fmt.Sprintf("Run \"ssh-keyscan HOST >> %s\", and compare the key with what the server's owner publishes.",
			file))
}

// regular refuses a path that is no regular file. Known hosts are read several times, and a pipe, as of <(command), can
// be read only once.
func regular(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &os.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return info, nil
}

// SecretData is the key in the form in which Flux's GitRepository reads it from a Secret.
func (k *SSHKey) SecretData() map[string]string {
	data := map[string]string{
		"identity": string(k.Identity), "known_hosts": string(k.KnownHosts),
		"identity.pub": string(ssh.MarshalAuthorizedKey(k.signer.PublicKey())),
	}
	if len(k.Passphrase) > 0 {
		data["password"] = string(k.Passphrase)
	}
	return data
}

// scpLike is [user@]host:path, as `git clone` accepts it.
var scpLike = regexp.MustCompile(`^(?:([^@/:\s]+)@)?([^@/:\s]+):([^\s]+)$`)

// GitAddress returns the address of a git repository in Flux's form, and whether it is one over ssh: git@host:path
// becomes ssh://git@host/path. Other addresses stay as they are.
func GitAddress(address string) (string, bool) {
	if strings.HasPrefix(address, "ssh://") {
		return address, true
	}
	parts := scpLike.FindStringSubmatch(address)
	if parts == nil || strings.Contains(address, "://") {
		return address, false
	}
	u := url.URL{Scheme: "ssh", Host: parts[2], Path: "/" + strings.TrimPrefix(parts[3], "/")}
	u.User = url.User("git")
	if parts[1] != "" {
		u.User = url.User(parts[1])
	}
	return u.String(), true
}
