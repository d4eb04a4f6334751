package environment

import (
	"slices"
	"strings"
)

const (
	encryptionPath   = "cluster.kubernetes.encryption_at_rest" // where the values have an EncryptionAtRest
	encryptionSecret = "machine-encryption-"                   // in the chart's name of any cluster
)

// Kubernetes are settings of the control plane, as far as the code needs them.
type Kubernetes struct {
	EncryptionAtRest EncryptionAtRest `json:"encryption_at_rest"`
}

// EncryptionAtRest is the encryption of Secrets in etcd. Without keys there is none, or RKE2's own.
type EncryptionAtRest struct {
	Provider string          `json:"provider"` // the algorithm
	Keys     []EncryptionKey `json:"keys"`     // all decrypt
}

// EncryptionKey is one of the keys.
type EncryptionKey struct {
	Name        string `json:"name"`
	Secret      string `json:"secret"`       // base64
	DecryptOnly bool   `json:"decrypt_only"` // the first other key encrypts
}

// unreadable returns which Secrets a change of the encryption makes unreadable. Empty means none.
func (e EncryptionAtRest) unreadable(before EncryptionAtRest) string {
	lost := slices.ContainsFunc(before.Keys, func(k EncryptionKey) bool { return !e.has(k) })
	if lost || len(before.Keys) > 0 && before.Provider != e.Provider {
		return "the API server cannot read Secrets that are encrypted with a key that it no longer has"
	}
	encrypting := slices.IndexFunc(e.Keys, func(k EncryptionKey) bool { return !k.DecryptOnly })
	if encrypting >= 0 && !before.has(e.Keys[encrypting]) {
		return "while machines are replaced, the old ones cannot read Secrets that are encrypted with a key that they " +
			"do not have: first add the key with decrypt_only"
	}
	return ""
}

// has reports whether a key is one of the keys, whatever it is used for.
func (e EncryptionAtRest) has(key EncryptionKey) bool {
	return slices.ContainsFunc(e.Keys, func(k EncryptionKey) bool {
		return k.Name == key.Name && k.Secret == key.Secret
	})
}

// EncryptionSecret returns the name of the Secret from which machines get the keys that a cluster was last given in
// these objects. Empty means that there are none.
func (e *Environment) EncryptionSecret(given Objects) (string, error) {
	last, err := given.documents()
	if err != nil {
		return "", err
	}
	before := *e
	before.settle(last)
	objects, err := before.renderOnly("templates/machine-secrets.yaml")
	if err != nil {
		return "", err
	}
	for _, object := range objects {
		if IsEncryptionSecret(object.GetName()) {
			return object.GetName(), nil
		}
	}
	return "", nil
}

// IsEncryptionSecret reports whether a Secret of this name has keys for Secrets.
func IsEncryptionSecret(name string) bool { return strings.Contains(name, encryptionSecret) }

// ChangesEncryption reports whether one of the changes is about the encryption of Secrets.
func ChangesEncryption(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return strings.HasPrefix(c.Key, encryptionPath) })
}
