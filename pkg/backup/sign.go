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

// SignatureFile is the name of the file that signs backup.json, and by that every other file. It is in the format of
// ssh-keygen -Y.
const SignatureFile = ManifestFile + ".sig"

// signatureNamespace keeps a signature of a backup from being taken for one of something else, and the other way round.
const signatureNamespace = "cluster-init.io/backup"

// maxKey bounds a file of a key, and a signature, in bytes.
const maxKey = 64 << 10

// Signer signs backups with a key of the user's own. The zero value signs none.
type Signer struct{ key ssh.Signer }

// Signs reports whether it has a key.
func (s Signer) Signs() bool { return s.key != nil }

// ReadSigner reads the private key of OpenSSH in a file that a flag names. Errors have the code fault.Usage and hold
// nothing of the file.
func ReadSigner(flag, path string) (Signer, error) {
	text, err := readKey(path)
	if err != nil {
		return Signer{}, fault.Wrap(fmt.Errorf("read %s: %w", flag, err), fault.Usage,
			"Name the file of a private key: ssh-keygen -t ed25519 -N '' -f FILE makes one.")
	}
	key, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return Signer{}, fault.New(fault.Usage,
			fmt.Sprintf("read %s: the key in %s has a passphrase, and nobody is asked for it", flag, path),
			"Name a key without a passphrase: ssh-keygen -t ed25519 -N '' -f FILE makes one.")
	case err != nil: // the parser's words may repeat the key
		return Signer{}, fault.New(fault.Usage, fmt.Sprintf("read %s: %s holds no private key of OpenSSH", flag, path),
			"Name the file of a private key: ssh-keygen -t ed25519 -N '' -f FILE makes one.")
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

// keyItself is how a public key of OpenSSH begins; anything else is the name of a file.
var keyItself = regexp.MustCompile(`^(ssh|ecdsa|sk-ssh|sk-ecdsa)-[^ /]+ AAAA`)

// VerifyKey is a public key that signatures of backups are checked with. The zero value checks none.
type VerifyKey struct{ key ssh.PublicKey }

// Given reports whether there is one.
func (k VerifyKey) Given() bool { return k.key != nil }

// ReadVerifyKey reads a public key of OpenSSH: the value of a flag is the key itself, or a file with it. Errors have
// the code fault.Usage.
func ReadVerifyKey(flag, value string) (VerifyKey, error) {
	text := []byte(value)
	if !keyItself.MatchString(value) {
		var err error
		if text, err = readKey(value); err != nil {
			return VerifyKey{}, fault.Wrap(fmt.Errorf("read %s: %w", flag, err), fault.Usage,
				"Give the public key, or the file that holds it: the one that ends with .pub.")
		}
	}
	if bytes.Contains(text, []byte("PRIVATE KEY")) {
		return VerifyKey{}, fault.New(fault.Usage, "read "+flag+": it is a private key",
			"Give its public key: the file beside it that ends with .pub.")
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return VerifyKey{}, fault.New(fault.Usage, "read "+flag+": it is no public key of OpenSSH",
			"Give the public key, or the file that holds it: the one that ends with .pub.")
	}
	return VerifyKey{key}, nil
}

// SignedBy returns the fingerprint of the key that a backup says it was signed with, as ssh-keygen -l prints it. Empty
// means it is not signed. Nobody has checked that before Verify.
func (b *Backup) SignedBy() string {
	if b.signature == nil {
		return ""
	}
	return ssh.FingerprintSHA256(b.signature.PublicKey)
}

// Verify refuses a backup that the owner of a key did not sign, as it is: the code is fault.BackupInvalid.
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
		return refuse("it was signed with the key %s, and not with %s", b.SignedBy(), ssh.FingerprintSHA256(key.key))
	case err != nil:
		return refuse("%s was changed, or the signature is of something else", ManifestFile)
	}
	return nil
}

// parseSignature reads the file of a signature.
func parseSignature(text []byte) (*sshsig.Signature, error) {
	if len(text) > maxKey {
		return nil, fmt.Errorf("%s is larger than %d bytes", SignatureFile, maxKey)
	}
	signature, err := sshsig.Unarmor(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no signature: it is truncated or was changed", SignatureFile)
	}
	return signature, nil
}
