package backup_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// signingKey writes a key pair of OpenSSH and returns the file of the private key; that of the public one has .pub
// after it.
func signingKey(t *testing.T, passphrase string) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	public, file := sshKey(t, private, passphrase)
	must(t, os.WriteFile(file+".pub", []byte(public), 0o600))
	return file
}

func signed(t *testing.T, dir, key string, to backup.Recipients) string {
	t.Helper()
	by := backup.Signer{}
	if key != "" {
		var err error
		if by, err = backup.ReadSigner("--sign-key", key); err != nil {
			t.Fatal(err)
		}
	}
	s, err := backup.Stage(dir, content(), to, by)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	return s.Path
}

// Whoever may write to a backup can make a manifest that fits; the owner of the key only can sign it.
func TestSignatures(t *testing.T) {
	mine, other := signingKey(t, ""), signingKey(t, "")
	public, secret := keyPair(t)
	ids, err := backup.ReadIdentities(secret)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(t *testing.T, path, file string, change func(string) string) {
		t.Helper()
		name := filepath.Join(path, file)
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, []byte(change(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		key     string
		to      backup.Recipients
		change  func(t *testing.T, path string)
		refused string // by Verify; "": it is accepted
		broken  string // by Open
	}{
		"signed":               {key: mine},
		"signed and encrypted": {key: mine, to: recipients(t, public)},
		"not signed":           {refused: "it is not signed"},
		"of another user":      {key: other, refused: "not with SHA256:"},
		"its manifest was made": {key: mine, change: func(t *testing.T, path string) {
			edit(t, path, "backup.json", func(s string) string { return strings.Replace(s, `"v1"`, `"v2"`, 1) })
		}, refused: "backup.json was changed"},
		"the signature of another backup": {key: mine, change: func(t *testing.T, path string) {
			later := signed(t, filepath.Dir(path), mine, backup.Recipients{})
			edit(t, later, "backup.json", func(s string) string { return strings.Replace(s, `"v1"`, `"v3"`, 1) })
			text, err := os.ReadFile(filepath.Join(later, backup.SignatureFile))
			if err != nil {
				t.Fatal(err)
			}
			edit(t, path, "backup.json", func(s string) string { return strings.Replace(s, `"v1"`, `"v4"`, 1) })
			edit(t, path, backup.SignatureFile, func(string) string { return string(text) })
		}, refused: "backup.json was changed"},
		"a signature that is none": {key: mine, change: func(t *testing.T, path string) {
			edit(t, path, backup.SignatureFile, func(string) string { return "hunter2" })
		}, broken: "backup.json.sig is not a signature"},
		"one that was taken away": {key: mine,
			change:  func(_ *testing.T, path string) { _ = os.Remove(filepath.Join(path, backup.SignatureFile)) },
			refused: "it is not signed"},
	} {
		t.Run(name, func(t *testing.T) {
			path := signed(t, t.TempDir(), tc.key, tc.to)
			if tc.change != nil {
				tc.change(t, path)
			}
			b, err := backup.Open(path, ids)
			if tc.broken != "" {
				if fault.CodeOf(err) != fault.BackupInvalid || !strings.Contains(err.Error(), tc.broken) {
					t.Errorf("%v, want %q", err, tc.broken)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			key, err := backup.ReadVerifyKey("--verify-key", mine+".pub")
			if err != nil {
				t.Fatal(err)
			}
			err = b.Verify(key)
			if (tc.refused == "") != (err == nil) || err != nil && (fault.CodeOf(err) != fault.BackupInvalid ||
				!strings.Contains(err.Error(), tc.refused) || fault.HintOf(err) == "") {
				t.Errorf("%v, want %q", err, tc.refused)
			}
			if by := b.SignedBy(); (by == "") != (tc.key == "" || strings.Contains(name, "taken away")) {
				t.Errorf("it is signed by %q", by)
			}
		})
	}
}

// A key is refused by the flag that names it, and never repeated.
func TestKeysOfSignatures(t *testing.T) {
	mine, locked := signingKey(t, ""), signingKey(t, "hunter2")
	text, err := os.ReadFile(mine)
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(mine + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.ReadVerifyKey("--verify-key", string(public)); err != nil {
		t.Errorf("the key itself: %v", err)
	}
	sign := func(path string) error { _, err := backup.ReadSigner("--sign-key", path); return err }
	verify := func(value string) error { _, err := backup.ReadVerifyKey("--verify-key", value); return err }
	for name, tc := range map[string]struct {
		err  error
		says string
	}{
		"no file":                      {sign(filepath.Join(t.TempDir(), "nowhere")), "read --sign-key: open"},
		"a key with a passphrase":      {sign(locked), "has a passphrase"},
		"a public key to sign with":    {sign(mine + ".pub"), "contains no private key"},
		"no file to verify with":       {verify(filepath.Join(t.TempDir(), "nowhere")), "read --verify-key: open"},
		"a private key to verify with": {verify(mine), "it is a private key"},
		"something else":               {verify("ssh-ed25519 AAAAhunter2"), "not a public key"},
	} {
		if fault.CodeOf(tc.err) != fault.Usage || !strings.Contains(tc.err.Error(), tc.says) ||
			fault.HintOf(tc.err) == "" || strings.Contains(tc.err.Error(), "hunter2") ||
			strings.Contains(tc.err.Error(), string(text)) {
			t.Errorf("%s: %v", name, tc.err)
		}
	}
}
