package source

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
	"github.com/cluster-init/cluster-init/pkg/internal/sshgit"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

func TestGitAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://git.example.org/a/b.git":     "https://git.example.org/a/b.git",
		"https://me:pw@git.example.org:8443/": "https://me:pw@git.example.org:8443/",
		"ssh://git@git.example.org:2222/b":    "ssh://git@git.example.org:2222/b",
		"git@git.example.org:a/b.git":         "ssh://git@git.example.org/a/b.git",
		"git@git.example.org:/srv/b.git":      "ssh://git@git.example.org/srv/b.git",
		"git.example.org:b.git":               "ssh://git@git.example.org/b.git",
		"me@git.example.org:~me/b.git":        "ssh://me@git.example.org/~me/b.git",
		"./here":                              "./here",
	} {
		got, overSSH := GitAddress(address)
		if got != want || overSSH != strings.HasPrefix(want, "ssh://") {
			t.Errorf("%s became %s (over ssh: %v), want %s", address, got, overSSH, want)
		}
	}
}

func TestReadSSHKey(t *testing.T) {
	s := sshgit.Start(t, t.TempDir())
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := os.ReadFile(s.Key)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ key, knownHosts, passphrase, want, hint string }{
		"a key":            {s.Key, s.KnownHosts, "", "", ""},
		"an encrypted key": {s.EncryptedKey, s.KnownHosts, s.Passphrase, "", ""},
		"without its passphrase": {s.EncryptedKey, s.KnownHosts, "",
			"encrypted-key: it is encrypted, and there is no passphrase", "CLUSTER_INIT_SSH_PASSPHRASE"},
		"another passphrase": {s.EncryptedKey, s.KnownHosts, "other-s3cret",
			"the passphrase does not decrypt it", "CLUSTER_INIT_SSH_PASSPHRASE"},
		"readable by others, a name with spaces": {file("my key", string(key), 0o644), s.KnownHosts, "",
			"other users can read it (mode 0644)", "chmod 600 '" + filepath.Join(dir, "my key") + "'"},
		"readable by others": {file("open", string(key), 0o644), s.KnownHosts, "",
			"other users can read it (mode 0644)", "chmod 600"},
		"no key": {file("text", "s3cret, but no key", 0o600), s.KnownHosts, "",
			"not a private key", "ssh-keygen"},
		"no file": {filepath.Join(dir, "none"), s.KnownHosts, "", "no such file",
			"--source-ssh-key"},
		"a folder": {dir, s.KnownHosts, "", "is a directory", "--source-ssh-key"},
		"no known hosts": {s.Key, filepath.Join(dir, "none"), "", "no such file",
			"--source-known-hosts"},
		"empty known hosts": {s.Key, file("empty", "", 0o600), "", "it contains no key", "ssh-keyscan"},
		"a public key": {file("deploy-key.pub", "ssh-ed25519 AAAA", 0o644), s.KnownHosts, "",
			"it is a public key", "without .pub"},
		"a device":                {"/dev/null", s.KnownHosts, "", "not a regular file", "--source-ssh-key"},
		"known hosts of a device": {s.Key, "/dev/null", "", "not a regular file", "--source-known-hosts"},
		"known hosts of nonsense": {s.Key, file("nonsense", "nonsense\n", 0o600), "", "nonsense:1",
			"Fix the file"},
		"known hosts of comments": {s.Key, file("comments", "# a\n\n", 0o600), "", "it contains no key",
			"ssh-keyscan"},
		"both are wrong: both are reported": {filepath.Join(dir, "none"), file("empty", "", 0o600), "", "2 problems",
			"ssh-keyscan"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ReadSSHKey(test.key, test.knownHosts, test.passphrase)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), test.want) ||
				!strings.Contains(fault.HintOf(err), test.hint) {
				t.Errorf("got %v (%s), hint %q; want %q, hint %q", err, fault.CodeOf(err), fault.HintOf(err), test.want,
					test.hint)
			}
			if err != nil && strings.Contains(err.Error()+fault.HintOf(err), "s3cret") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// Flux reads these keys of a Secret: source-controller's GitRepository, secretRef.
func TestSSHKeyAsSecret(t *testing.T) {
	s := sshgit.Start(t, t.TempDir())
	key, err := ReadSSHKey(s.EncryptedKey, s.KnownHosts, s.Passphrase)
	if err != nil {
		t.Fatal(err)
	}
	data := key.SecretData()
	if !strings.Contains(data["identity"], "PRIVATE KEY") || !strings.HasPrefix(data["identity.pub"], "ssh-ed25519 ") ||
		!strings.Contains(data["known_hosts"], "ssh-ed25519") || data["password"] != s.Passphrase || len(data) != 4 {
		t.Errorf("wrong keys, or wrong values: %d of them", len(data))
	}
	if key, err = ReadSSHKey(s.Key, s.KnownHosts, "not needed"); err != nil {
		t.Fatal(err)
	}
	if _, there := key.SecretData()["password"]; there {
		t.Error("a key that is not encrypted has a passphrase")
	}
}

// What git itself says is understood.
func TestReadPacketsOfGit(t *testing.T) {
	prerequisite.Program(t, "git")
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"},
		{"commit", "--quiet", "--allow-empty", "-m", "one"}, {"tag", "v1"}} {
		git := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		git.Dir, git.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command("git", "upload-pack", "--advertise-refs", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	refs, err := readPackets(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if !advertises(refs, "refs/heads/main") || advertises(refs, "refs/heads/mai") {
		t.Errorf("understood %q", refs)
	}
	for _, broken := range []string{"", "00", "zzzz", "0003", "0010short"} {
		if _, err := readPackets(strings.NewReader(broken)); err == nil {
			t.Errorf("%q was taken", broken)
		}
	}
}

func TestVerifySSHSource(t *testing.T) {
	s := sshgit.Start(t, t.TempDir())
	silent, err := net.Listen("tcp", "127.0.0.1:0") // never says a word
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	cases := map[string]struct{ url, branch, key, knownHosts, want, hint string }{
		"readable":        {"ssh://git@" + s.Address + "/repo.git", "main", s.Key, s.KnownHosts, "", ""},
		"encrypted key":   {"ssh://git@" + s.Address + "/repo.git", "", s.EncryptedKey, s.KnownHosts, "", ""},
		"git is the user": {"ssh://" + s.Address + "/repo.git", "", s.Key, s.KnownHosts, "", ""},
		"no such branch": {"ssh://git@" + s.Address + "/repo.git", "next", s.Key, s.KnownHosts, "no branch next",
			"Check"},
		"no such repository": {"ssh://git@" + s.Address + "/none.git", "", s.Key, s.KnownHosts,
			"does not serve the repository: ERROR: no such repository", "key"},
		"a name to be quoted": {"ssh://git@" + s.Address + "/a'b.git", "", s.Key, s.KnownHosts,
			`no such repository: git-upload-pack '/a'\''b.git'`, "key"},
		"unknown key": {"ssh://git@" + s.Address + "/repo.git", "", s.OtherKey, s.KnownHosts,
			"does not accept the key", "ssh-keygen -y"},
		"other user": {"ssh://me@" + s.Address + "/repo.git", "", s.Key, s.KnownHosts, "does not accept the key",
			"ssh-keygen -y"},
		"another server": {"ssh://git@" + s.Address + "/repo.git", "", s.Key, s.OtherKnownHosts,
			"is not the one in", "which server answers"},
		"unknown server": {"ssh://git@127.0.0.1:1/repo.git", "", s.Key, s.KnownHosts,
			"contains no key of [127.0.0.1]:1", "ssh-keyscan -p 1 127.0.0.1"},
		"no path": {"ssh://git@" + s.Address + "/", "", s.Key, s.KnownHosts, "not an address of the form",
			"Check the address"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			key, err := ReadSSHKey(test.key, test.knownHosts, s.Passphrase)
			if err != nil {
				t.Fatal(err)
			}
			err = Source{Kind: Git, Git: flux.GitSource{URL: test.url, Branch: test.branch}, SSH: key}.Verify(
				context.Background(), content.Proxies{})
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			checkUnreadable(t, err, test.want, test.hint)
		})
	}
	t.Run("no key", func(t *testing.T) {
		checkUnreadable(t, Source{Kind: Git, Git: flux.GitSource{URL: "git@example.org:repo.git"}}.Verify(
			context.Background(), content.Proxies{}), "no key", "--source-ssh-key")
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if connection, err := silent.Accept(); err == nil {
				cancel() // in the middle of the handshake
				defer connection.Close()
				<-t.Context().Done()
			}
		}()
		known, err := os.ReadFile(s.KnownHosts)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "known_hosts")
		_, port, _ := net.SplitHostPort(silent.Addr().String())
		_, other, _ := net.SplitHostPort(s.Address)
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(known), other, port)), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := ReadSSHKey(s.Key, file, "")
		if err != nil {
			t.Fatal(err)
		}
		err = Source{Kind: Git, Git: flux.GitSource{URL: "ssh://git@" + silent.Addr().String() + "/repo.git"},
			SSH: key}.Verify(ctx, content.Proxies{})
		if err == nil || ctx.Err() == nil {
			t.Errorf("got %v", err)
		}
	})
}
