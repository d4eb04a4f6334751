package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Recipients are the public keys of those who can open a backup. The zero value writes it without encryption.
type Recipients struct{ keys []age.Recipient }

// Encrypt reports whether there are any recipients.
func (r Recipients) Encrypt() bool { return len(r.keys) > 0 }

// Seal returns a writer that encrypts for the recipients. What is written is complete once it is closed. Without
// recipients it does not encrypt.
func (r Recipients) Seal(to io.Writer) (io.WriteCloser, error) {
	if !r.Encrypt() {
		return open{to}, nil
	}
	return age.Encrypt(to, r.keys...)
}

// open closes nothing.
type open struct{ io.Writer }

// Close does nothing.
func (open) Close() error { return nil }

// ParseRecipients reads public keys from a flag: age (age1...), ssh-ed25519 and ssh-rsa. An error has the code
// fault.Usage, names each key by its position and never repeats one: it may be a secret key.
func ParseRecipients(flag string, texts []string) (Recipients, error) {
	var r Recipients
	var problems []error
	for i, text := range texts {
		key, err := parseRecipient(strings.TrimSpace(text))
		if err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("read %s number %d: %w", flag, i+1, err), fault.Usage,
				fault.HintOf(err)))
			continue
		}
		r.keys = append(r.keys, key)
	}
	if err := fault.Join(problems...); err != nil {
		return Recipients{}, err
	}
	if !r.Encrypt() {
		return r, nil
	}
	if _, err := age.Encrypt(io.Discard, r.keys...); err != nil { // keys of two kinds may not be combined
		return Recipients{}, fault.New(fault.Usage, "read "+flag+": these keys cannot be used together",
			"Use keys of one kind.")
	}
	return r, nil
}

func parseRecipient(text string) (age.Recipient, error) {
	switch {
	case strings.HasPrefix(strings.ToUpper(text), "AGE-SECRET-KEY-"), strings.Contains(text, "PRIVATE KEY"):
		return nil, fault.New(fault.Usage, "it is a secret key, and other users can see a command line",
			"Create another key pair, and use its public key: age-keygen -y FILE prints it.")
	case strings.HasPrefix(text, "ssh-"):
		if key, err := agessh.ParseRecipient(text); err == nil {
			return key, nil
		}
	case strings.HasPrefix(text, "age1"):
		if key, err := age.ParseRecipients(strings.NewReader(text)); err == nil && len(key) == 1 {
			return key[0], nil
		}
	}
	return nil, fault.New(fault.Usage, "not a public key of age, ssh-ed25519 or ssh-rsa",
		"Use the public key itself, not a file. For age, age-keygen -y FILE prints it: it begins with age1.")
}

// Identities are the secret keys that open an encrypted backup.
type Identities struct{ keys []age.Identity }

// Open returns the content of what Seal wrote. Its errors have the code fault.Usage.
func (i Identities) Open(sealed io.Reader) (io.Reader, error) {
	if len(i.keys) == 0 {
		return nil, fault.New(fault.Usage, "it is encrypted, and no secret key was given",
			"Set the key that opens it: --identity FILE")
	}
	plain, err := age.Decrypt(sealed, i.keys...)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("decrypt it: %w", err), fault.Usage,
			"Set the secret key of one of its recipients: --identity FILE")
	}
	return plain, nil
}

// maxIdentities bounds a file of secret keys, in bytes.
const maxIdentities = 1 << 20

// ReadIdentities reads a file of secret keys: the output of age-keygen, or a private key of OpenSSH without a
// passphrase. Errors have the code fault.Usage and contain nothing of the file.
func ReadIdentities(path string) (Identities, error) {
	file, err := os.Open(path)
	if err != nil {
		return Identities{}, fault.Wrap(fmt.Errorf("read the secret key: %w", err), fault.Usage,
			"Use a file that age-keygen wrote, or a private key of OpenSSH.")
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxIdentities))
	if err == nil {
		var ids Identities
		if ids, err = parseIdentities(text); err == nil {
			return ids, nil
		}
	}
	return Identities{}, fault.Wrap(fmt.Errorf("read the secret key in %s: %w", path, err), fault.Usage,
		"Use a file that age-keygen wrote, or a private key of OpenSSH without a passphrase.")
}

// parseIdentities hides the errors of the parsers: they may repeat a key.
func parseIdentities(text []byte) (Identities, error) {
	if bytes.Contains(text, []byte("-----BEGIN")) {
		if key, err := agessh.ParseIdentity(text); err == nil {
			return Identities{[]age.Identity{key}}, nil
		}
		return Identities{}, errors.New("it is not a private key of OpenSSH without a passphrase")
	}
	keys, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil {
		return Identities{}, errors.New("it is not a file of secret keys of age")
	}
	return Identities{keys}, nil
}
