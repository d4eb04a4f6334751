package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// SignatureFile is the name of the file that signs backup.json, and through its digests every other file. It is in the
// format of ssh-keygen -Y.
const SignatureFile = ManifestFile + ".sig"

// signatureNamespace separates signatures of backups from signatures of anything else.
const signatureNamespace = "cluster-init.io/backup"

// maxKey is the maximum size of a key file, and of a signature, in bytes.
const maxKey = 64 << 10

// Signer signs backups with a user's own key. The zero value signs none.
type Signer struct{ key ssh.Signer }

// Signs reports whether it has a key.
func (s Signer) Signs() bool { return s.key != nil }

// ReadSigner reads the OpenSSH private key in a file that a flag names. Errors have the code fault.Usage and contain
// nothing of the file.
func ReadSigner(flag, path string) (Signer, error) {
	text, err := readKey(path)
	if err != nil {
		return Signer{}, fault.Wrap(fmt.Errorf("read %s: %w", flag, err), fault.Usage,
			"Use the file of a private key. To create one: ssh-keygen -t ed25519 -N '' -f FILE")
	}
	key, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return Signer{}, fault.New(fault.Usage,
			fmt.Sprintf("read %s: the key in %s has a passphrase, and this command does not ask for it", flag, path),
			"Use a key without a passphrase. To create one: ssh-keygen -t ed25519 -N '' -f FILE")
	case err != nil: // the parser's error may repeat the key
		return Signer{},
			fault.New(fault.Usage, fmt.Sprintf("read %s: %s contains no private key of OpenSSH", flag, path),
				"Use the file of a private key. To create one: ssh-keygen -t ed25519 -N '' -f FILE")
	}
	return Signer{key}, nil
}

// readKey reads a small file.
func readKey(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err == nil && len(text) > maxKey {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxKey)
	}
	return text, err
}

// sign returns the signature of a manifest.
func (s Signer) sign(manifest []byte) ([]byte, error) {
	signature, err := sshsig.Sign(bytes.NewReader(manifest), s.key, sshsig.HashSHA512, signatureNamespace)
	if err != nil {
		return nil, fmt.Errorf("sign the backup: %w", err)
	}
	return sshsig.Armor(signature), nil
}

// keyItself matches the beginning of an OpenSSH public key. Anything else is a file name.
var keyItself = regexp.MustCompile(`^(ssh|ecdsa|sk-ssh|sk-ecdsa)-[^ /]+ AAAA`)

// VerifyKey is the public key that checks signatures of backups. The zero value checks none.
type VerifyKey struct{ key ssh.PublicKey }

// Given reports whether there is one.
func (k VerifyKey) Given() bool { return k.key != nil }

// ReadVerifyKey reads an OpenSSH public key: the flag's value is the key itself, or a file with it. Errors have the
// code fault.Usage.
func ReadVerifyKey(flag, value string) (VerifyKey, error) {
	text := []byte(value)
	if !keyItself.MatchString(value) {
		var err error
		if text, err = readKey(value); err != nil {
			return VerifyKey{}, fault.Wrap(fmt.Errorf("read %s: %w", flag, err), fault.Usage,
				"Use the public key itself, or its file, which ends with .pub.")
		}
	}
	if bytes.Contains(text, []byte("PRIVATE KEY")) {
		return VerifyKey{}, fault.New(fault.Usage, "read "+flag+": it is a private key",
			"Use its public key: the file of the same name with .pub.")
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return VerifyKey{}, fault.New(fault.Usage, "read "+flag+": it is not a public key of OpenSSH",
			"Use the public key itself, or its file, which ends with .pub.")
	}
	return VerifyKey{key}, nil
}

// SignedBy returns the fingerprint of the key that a backup claims to be signed with, as ssh-keygen -l prints it. Empty
// means it is not signed. The claim is not checked before Verify.
func (b *Backup) SignedBy() string {
	if b.signature == nil {
		return ""
	}
	return ssh.FingerprintSHA256(b.signature.PublicKey)
}

// Verify refuses a backup that the owner of a key did not sign in its present form: the code is fault.BackupInvalid.
func (b *Backup) Verify(key VerifyKey) error {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.BackupInvalid, "verify the signature of the backup: "+fmt.Sprintf(format, args...),
			"Use a backup that was signed with that key (--sign-key), or the public key of whoever made this one.")
	}
	if b.signature == nil {
		return refuse("it is not signed")
	}
	err := sshsig.Verify(bytes.NewReader(b.manifest), b.signature, key.key, b.signature.HashAlgorithm,
		signatureNamespace)
	switch {
	case errors.Is(err, sshsig.ErrPublicKeyMismatch):
		return refuse("it was signed with the key %s, not with %s", b.SignedBy(), ssh.FingerprintSHA256(key.key))
	case err != nil:
		return refuse("%s was changed, or the signature is of something else", ManifestFile)
	}
	return nil
}

// parseSignature reads a signature file.
func parseSignature(text []byte) (*sshsig.Signature, error) {
	if len(text) > maxKey {
		return nil, fmt.Errorf("%s is larger than %d bytes", SignatureFile, maxKey)
	}
	signature, err := sshsig.Unarmor(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a signature: it is truncated or was changed", SignatureFile)
	}
	return signature, nil
}
