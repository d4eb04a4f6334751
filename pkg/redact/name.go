package redact

import (
	"regexp"
	"slices"
	"strings"
)

var (
	humps = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	// secret matches the last words of the names of secrets. The word "key" alone does not match: a topology key and a
	// public key are not secret.
	secret = regexp.MustCompile(
		`(?:[-_.]pwd|(?:^|[-_.])(?:pass(?:word|wd|phrase|code)?s?|pat|tokens?|secrets?|credentials?|auth|authorization|cookies?|key[-_]data|` +
			`(?:` + keyPrefixes + `)[-_]?keys?))(?:[-_](?:b64|base64))?$`)
	// variable matches shell variables that end in KEY. They are secrets, unless publicKey matches.
	variable = regexp.MustCompile(`^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_KEY(?:_B64|_BASE64)?$`)
	// reference matches names that refer to a Secret, such as cert-manager.io/inject-ca-from-secret.
	reference = regexp.MustCompile(`(?:^|[-_.])from[-_]secrets?$`)
	publicKey = regexp.MustCompile(`(?:PUBLIC|PUB|HOST|PRIMARY|FOREIGN|SORT|PARTITION|CACHE|TOPOLOGY|LABEL|KNOWN)_KEY`)
)

const keyPrefixes = `api|private|secret|access|certificate|encryption|decryption|encrypt|encrypted|crypto|signing|master|shared|preshared|account|deploy|deployment|ssh|gpg|` +
	`age|service|storage|license|licence|client|server|session|webhook|admin|hmac|jwt|unseal|recovery|registration|psk|wireguard|etcd`

// SecretName reports whether the value of a name, in any spelling style, is usually a secret. It is false for a name
// that only refers to a secret (secretName, tokenSecretRef, valuesFromSecret).
func SecretName(name string) bool {
	if variable.MatchString(name) && !publicKey.MatchString(name) {
		return true
	}
	words := strings.ToLower(humps.ReplaceAllString(name, "${1}-${2}"))
	return secret.MatchString(words) && !reference.MatchString(words)
}

// Public reports whether values under a name are not secret, even in a Secret. Such are names of things and users,
// places, addresses, and settings of OpenStack's clouds.yaml that are no credentials.
func Public(name string) bool {
	if name == "ca.crt" {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(humps.ReplaceAllString(name, "${1}-${2}")),
		func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	if len(words) == 0 || SecretName(name) {
		return false
	}
	if len(words) == 2 && words[0] == "auth" && (words[1] == "type" || words[1] == "url") {
		return true
	}
	return slices.Contains([]string{"name", "names", "username", "user", "namespace", "format", "type", "server",
		"region", "cloud", "cluster", "interface", "kind"}, words[len(words)-1]) ||
		slices.Contains([]string{"project_id", "domain_id", "user_id", "user_domain_id", "project_domain_id",
			"application_credential_id", "tenant_id"}, strings.ToLower(name))
}
