package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
)

const identityPrefix = "sha256:"

// IdentityOf returns the identity of a cluster, which is the same wherever its definition is: the digest of the
// certificate of its authority, as in the Secret <cluster>-ca. It does not depend on the formatting of the PEM text. An
// empty certificate has an empty identity.
func IdentityOf(certificate []byte) string {
	if len(certificate) == 0 {
		return ""
	}
	var content []byte
	for rest := certificate; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		content = append(content, block.Bytes...)
	}
	if content == nil {
		content = certificate
	}
	digest := sha256.Sum256(content)
	return identityPrefix + hex.EncodeToString(digest[:])
}

// Identifies reports whether a certificate is that of the authority of the cluster that was backed up. A manifest
// without identity identifies none.
func (m Manifest) Identifies(certificate []byte) bool {
	return m.Identity != "" && IdentityOf(certificate) == m.Identity
}
