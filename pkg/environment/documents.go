package environment

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/redact"
)

// Names of the objects that carry an environment's values, in the order in which Helm merges them, and the key in
// each of them.
const (
	ValuesName       = "management-cluster-values"
	SecretsName      = "management-cluster-secrets"
	InfraSecretsName = "management-cluster-infra-secrets"
	ValuesKey        = "values.yaml"
)

// documents are the values in the three objects of an environment.
type documents struct {
	values, secrets, infraSecrets map[string]any
}

// secretPart matches keys whose values do not belong in a ConfigMap, at any depth. A proxy's address may contain a
// password.
var secretPart = regexp.MustCompile(
	`(?i)(password|passwd|token|secret|credential|private|api_?key|proxies|clouds_yaml)`)

// Secret reports whether a value's key is one of those for secrets: such a value does not belong in a file that others
// may read.
func Secret(key string) bool { return secretPart.MatchString(key) || redact.SecretName(key) }

// merged returns the three documents as Helm merges them.
func (d documents) merged() map[string]any {
	return merge(merge(d.values, d.secrets), d.infraSecrets)
}

// with merges values over all three documents: secrets go to the last Secret, the rest to the ConfigMap. A key that a
// Secret sets too is changed there as well, because Helm merges Secrets later.
func (d documents) with(over map[string]any) documents {
	plain, secret := separate(over)
	return documents{
		values:       merge(d.values, plain),
		secrets:      overlayExisting(d.secrets, plain),
		infraSecrets: merge(overlayExisting(d.infraSecrets, plain), secret),
	}
}

// merge merges over into base as Helm does: maps are merged, lists and all else replaced. A null stays, because Helm
// deletes the chart's own value with it. Neither argument is changed.
func merge(base, over map[string]any) map[string]any {
	out := copyMap(base)
	for key, value := range over {
		overMap, isMap := value.(map[string]any)
		baseMap, wasMap := out[key].(map[string]any)
		switch {
		case isMap && wasMap:
			out[key] = merge(baseMap, overMap)
		default:
			out[key] = copyValue(value)
		}
	}
	return out
}

// overlayExisting merges over into base, but only where base has the key.
func overlayExisting(base, over map[string]any) map[string]any {
	out := copyMap(base)
	for key, value := range over {
		current, there := out[key]
		if !there {
			continue
		}
		overMap, isMap := value.(map[string]any)
		baseMap, wasMap := current.(map[string]any)
		if isMap && wasMap {
			out[key] = overlayExisting(baseMap, overMap)
			continue
		}
		out[key] = copyValue(value)
	}
	return out
}

// separate splits values into public ones and those that look like secrets.
func separate(values map[string]any) (plain, secret map[string]any) {
	plain, secret = map[string]any{}, map[string]any{}
	for key, value := range values {
		if Secret(key) || hasSecret(value) {
			secret[key] = copyValue(value)
			continue
		}
		nested, isMap := value.(map[string]any)
		if !isMap {
			plain[key] = copyValue(value)
			continue
		}
		nestedPlain, nestedSecret := separate(nested)
		if len(nestedPlain) > 0 || len(nestedSecret) == 0 {
			plain[key] = nestedPlain
		}
		if len(nestedSecret) > 0 {
			secret[key] = nestedSecret
		}
	}
	return plain, secret
}

// hasSecret reports whether a list has secrets in one of its entries, at any depth. Helm replaces lists as a whole, so
// the whole list is treated as secret.
func hasSecret(value any) bool {
	list, isList := value.([]any)
	return isList && slices.ContainsFunc(list, keepsSecret)
}

func keepsSecret(entry any) bool {
	fields, isMap := entry.(map[string]any)
	if !isMap {
		return hasSecret(entry)
	}
	// in the form of environment variables
	if name, isText := fields["name"].(string); isText && fields["value"] != nil && Secret(name) {
		return true
	}
	for key, value := range fields {
		if Secret(key) || keepsSecret(value) {
			return true
		}
	}
	return false
}

func copyMap(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for key, value := range in {
		out[key] = copyValue(value)
	}
	return out
}

func copyValue(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		return copyMap(typed)
	case []any:
		out := make([]any, len(typed))
		for i := range typed {
			out[i] = copyValue(typed[i])
		}
		return out
	}
	return value
}

// valuesOf returns the text under values.yaml in the data of a ConfigMap or Secret.
func valuesOf(kind string, data map[string]string) (string, error) {
	text, ok := data[ValuesKey]
	if !ok {
		return "", fmt.Errorf("it has no key %s", ValuesKey)
	}
	if kind != "Secret" {
		return text, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("key %s: %w", ValuesKey, err)
	}
	return string(decoded), nil
}
