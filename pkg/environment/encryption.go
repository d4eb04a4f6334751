package environment

import "slices"

// encryptionPath is where the values have an EncryptionAtRest.
const encryptionPath = "cluster.kubernetes.encryption_at_rest"

// Kubernetes are settings of the control plane, as far as the code needs them.
type Kubernetes struct {
	EncryptionAtRest EncryptionAtRest `json:"encryption_at_rest"`
}

// EncryptionAtRest is the encryption of Secrets in etcd. Without keys there is none, or RKE2's own.
type EncryptionAtRest struct {
	Provider    string          `json:"provider"`     // the algorithm
	Keys        []EncryptionKey `json:"keys"`         // the first one encrypts, all decrypt
	DecryptOnly bool            `json:"decrypt_only"` // no key encrypts
}

// EncryptionKey is one of the keys.
type EncryptionKey struct {
	Name   string `json:"name"`
	Secret string `json:"secret"` // base64
}

// unreadable returns which Secrets a change of the encryption makes unreadable. Empty means none.
func unreadable(before, after Cluster) string {
	old, kept := before.Kubernetes.EncryptionAtRest, after.Kubernetes.EncryptionAtRest
	lost := slices.ContainsFunc(old.Keys, func(k EncryptionKey) bool { return !slices.Contains(kept.Keys, k) })
	switch {
	case before.BootstrapProvider == "rke2":
		return "RKE2 keeps the key that it has encrypted Secrets with, and new machines have another one"
	case lost || len(old.Keys) > 0 && old.Provider != kept.Provider:
		return "the API server cannot read Secrets that are encrypted with a key that it no longer has"
	case len(kept.Keys) > 0 && !kept.DecryptOnly && !slices.Contains(old.Keys, kept.Keys[0]):
		return "while machines are replaced, the old ones cannot read Secrets that are encrypted with a key that they " +
			"do not have: first add the key at the end, or with decrypt_only"
	}
	return ""
}
