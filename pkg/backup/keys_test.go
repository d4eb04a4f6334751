package backup_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// sshKey returns a public key of OpenSSH and the file of its private key, with a passphrase if one is given.
func sshKey(t *testing.T, private any, passphrase string) (public, file string) {
	t.Helper()
	signer, err := ssh.NewSignerFromKey(private)
	must(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	must(t, err)
	file = filepath.Join(t.TempDir(), "id")
	must(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	return string(ssh.MarshalAuthorizedKey(signer.PublicKey())), file
}

func TestWhoCanOpenAnEncryptedBackup(t *testing.T) {
	one, oneFile := keyPair(t)
	other, otherFile := keyPair(t)
	_, strangersFile := keyPair(t)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	ed, edFile := sshKey(t, edKey, "")
	rsaPublic, rsaFile := sshKey(t, rsaKey, "")
	path := write(t, t.TempDir(), content(), recipients(t, one, " "+other+"\n", ed, rsaPublic))
	for name, tc := range map[string]struct {
		file string
		code fault.Code
	}{
		"the first": {oneFile, ""}, "the second": {otherFile, ""}, "ssh-ed25519": {edFile, ""},
		"ssh-rsa": {rsaFile, ""}, "a stranger": {strangersFile, fault.Usage},
	} {
		ids, err := backup.ReadIdentities(tc.file)
		must(t, err)
		if _, err := backup.Open(path, ids); fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := backup.Open(path, backup.Identities{}); fault.CodeOf(err) != fault.Usage ||
		!strings.Contains(fault.HintOf(err), "--identity") {
		t.Errorf("without a key: %v", err)
	}
}

func TestWhatIsNoPublicKeyIsRefused(t *testing.T) {
	key, err := age.GenerateX25519Identity()
	must(t, err)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	ed, edFile := sshKey(t, edKey, "")
	private, err := os.ReadFile(edFile)
	must(t, err)
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":    {"", "not a public key"},
		"a word":     {"hunter2", "not a public key"},
		"half a key": {key.Recipient().String()[:40], "not a public key"},
		"two keys in one": {key.Recipient().String() + "\n" + key.Recipient().String(),
			"not a public key"},
		"half a key of ssh":          {ed[:40], "not a public key"},
		"a kind of ssh that is none": {"ssh-dss AAAAB3NzaC1kc3M", "not a public key"},
		"a secret key":               {key.String(), "it is a secret key"},
		"a secret key in lower case": {strings.ToLower(key.String()), "it is a secret key"},
		"a private key of ssh":       {string(private), "it is a secret key"},
	} {
		_, err := backup.ParseRecipients("--recipient", []string{key.Recipient().String(), tc.text})
		if fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), "--recipient number 2: "+
			tc.want) || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if said := err.Error() + fault.HintOf(err); tc.text != "" && strings.Contains(said, tc.text) {
			t.Errorf("%s: it is repeated: %s", name, said)
		}
	}
	none, err := backup.ParseRecipients("--recipient", nil)
	if err != nil || none.Encrypt() {
		t.Errorf("no keys: %v, %v", none, err)
	}
}

func TestWhatIsNoSecretKeyIsRefused(t *testing.T) {
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	_, locked := sshKey(t, edKey, "hunter2")
	folder := t.TempDir()
	wrong := filepath.Join(folder, "wrong")
	must(t, os.WriteFile(wrong, []byte("AGE-SECRET-KEY-1HUNTER2"), 0o600))
	for name, file := range map[string]string{"not there": filepath.Join(folder, "nowhere"), "a folder": folder,
		"no key": wrong, "with a passphrase": locked} {
		_, err := backup.ReadIdentities(file)
		if fault.CodeOf(err) != fault.Usage || fault.HintOf(err) == "" || strings.Contains(err.Error(), "HUNTER2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
