package redact

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// FromEnvironment returns the secrets among environment variables (NAME=value). These are values of variables that have
// a secret's name, secrets within such values, and passwords in proxy addresses.
func FromEnvironment(variables []string) []string {
	var secrets []string
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case strings.HasSuffix(strings.ToLower(name), "_proxy"):
			secrets = append(secrets, fromURL(value)...)
		case SecretName(name) && !(isPath(value) && strings.HasSuffix(name, "_KEY")):
			// SSH_KEY=/home/me/.ssh/id_ed25519 is a path, not a secret.
			secrets = append(secrets, FromSecret(name, value)...)
		}
	}
	return secrets
}

// isPath reports whether a value is the path of a file, not its content.
func isPath(value string) bool {
	return strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1 && !strings.ContainsAny(value, "+=\n")
}

// FromValues returns the secrets in a document that its author keeps secret as a whole. Public values, such as user
// names, are not secret. Booleans and numbers are secret only under a secret's name. In the address of a proxy only the
// password is secret.
func FromValues(document map[string]any) []string {
	var secrets []string
	walk(document, func(name string, value any) {
		switch text := scalar(value); {
		case strings.HasSuffix(name, "no_proxy"):
		case strings.HasSuffix(name, "_proxy"):
			secrets = append(secrets, fromURL(text)...)
		case !isString(value) && !SecretName(name): // a boolean or a number
		case !Public(name) && !word(text):
			secrets = append(secrets, text)
			secrets = append(secrets, inside(text)...)
		}
	})
	return secrets
}

// HelmRelease is the type of the Secrets in which Helm keeps its releases. They are compressed, so no other text
// repeats their content. The secrets in them come from the values, which other Secrets hold.
const HelmRelease = "helm.sh/release.v1"

// FromSecret returns the secrets in a value of a Secret: the whole value, unless its key or its length shows that it is
// not secret. It also returns the secrets within the value, such as those of a kubeconfig or a cloud-config.
func FromSecret(key, value string) []string {
	const short = 8 // a shorter value is a word, such as "default" or "true", unless its key is a secret's name
	secrets := inside(value)
	if !Public(key) && (SecretName(key) || len(value) >= short) {
		secrets = append(secrets, value)
	}
	return secrets
}

var (
	keyBlock   = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----([^-]*)-----END`)
	assignment = regexp.MustCompile(`(?m)^\s*(?:export\s+)?([\w.-]+)\s*=\s*["']?([^\s"']+)`)
)

// inside returns the secrets within a text: lines of private keys, and values that are assigned to secret names. If the
// text is YAML or JSON, it also returns values under secret names. It searches strings in such a document, and base64,
// as well.
func inside(text string) []string { return insideOnce(text, map[string]bool{}) }

// insideOnce is inside for a text that was not searched before: aliases may repeat a text at every level.
func insideOnce(text string, seen map[string]bool) []string {
	if seen[text] {
		return nil
	}
	seen[text] = true
	var secrets []string
	for _, block := range keyBlock.FindAllStringSubmatch(text, -1) {
		secrets = append(secrets, strings.Fields(block[1])...)
	}
	for _, a := range assignment.FindAllStringSubmatch(text, -1) {
		if SecretName(a[1]) {
			secrets = append(secrets, a[2])
		}
	}
	if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err == nil && len(decoded) > 0 {
		return append(secrets, insideOnce(string(decoded), seen)...)
	}
	var document any
	if !strings.ContainsAny(text, ":{") || unpack.Unmarshal([]byte(text), &document) != nil {
		return secrets
	}
	walk(document, func(name string, value any) {
		leaf := scalar(value)
		if (SecretName(name) || strings.HasSuffix(name, "certificate-data")) && !isBool(value) {
			secrets = append(secrets, leaf)
		}
		if decoded, err := base64.StdEncoding.DecodeString(leaf); err == nil && SecretName(name) {
			secrets = append(secrets, fromDecoded(string(decoded))...)
		}
		if leaf != text {
			secrets = append(secrets, insideOnce(leaf, seen)...)
		}
	})
	return secrets
}

// fromDecoded returns the secrets in decoded base64 under a secret name: "user:password", as in a Docker configuration,
// or a key.
func fromDecoded(text string) []string {
	if _, password, found := strings.Cut(text, ":"); found && !strings.Contains(text, "\n") {
		return []string{password, text}
	}
	return []string{text}
}

// fromURL returns the decoded password of an address.
func fromURL(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return nil
	}
	password, set := u.User.Password()
	if !set {
		return nil
	}
	return []string{password}
}

// walk calls leaf for every value that is neither a map, a list nor null. The name of an element is that of its list.
func walk(v any, leaf func(name string, value any)) { walkNamed("", v, leaf) }

func walkNamed(name string, v any, leaf func(string, any)) {
	switch typed := v.(type) {
	case map[string]any:
		for key, value := range typed {
			walkNamed(key, value, leaf)
		}
	case []any:
		for _, value := range typed {
			walkNamed(name, value, leaf)
		}
	case nil:
	default:
		leaf(name, typed)
	}
}

// word reports whether a text is a common constant, and so no secret.
func word(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "null", "none", "default":
		return true
	}
	return false
}

func isString(v any) bool { _, ok := v.(string); return ok }

func isBool(v any) bool { _, ok := v.(bool); return ok }
