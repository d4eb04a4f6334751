package redact

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Value returns a copy of decoded JSON or YAML without secrets: in each string, each key and each number, and what stands
// under a name that says that it is a secret. Metadata that only repeats an object, as in the annotation of kubectl
// apply, is left out.
func (r *Redactor) Value(v any) any {
	switch typed := v.(type) {
	case map[string]any:
		return r.object(typed)
	case []any:
		out := make([]any, len(typed))
		for i := range typed {
			out[i] = r.Value(typed[i])
		}
		return out
	case string:
		return r.Text(typed)
	case nil, bool:
		return v
	}
	if text := scalar(v); r.Text(text) != text {
		return Mark
	}
	return v
}

// scalar is a value that is no map and no list as its author wrote it: a password of digits is a number to YAML.
func scalar(v any) string {
	if number, ok := v.(float64); ok {
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

func (r *Redactor) object(o map[string]any) map[string]any {
	out := make(map[string]any, len(o))
	named, _ := o["name"].(string) // as an environment variable: {name, value}
	for key, value := range o {
		if key == "managedFields" || key == "kubectl.kubernetes.io/last-applied-configuration" {
			continue
		}
		secret := SecretName(key) || key == "value" && SecretName(named)
		out[r.Text(key)] = r.under(secret, value)
	}
	return out
}

// under returns value, of which all strings and numbers are secrets if secret says so. Below a map of its own each name
// speaks for itself.
func (r *Redactor) under(secret bool, value any) any {
	if !secret {
		return r.Value(value)
	}
	switch typed := value.(type) {
	case map[string]any:
		return r.object(typed)
	case []any:
		out := make([]any, len(typed))
		for i := range typed {
			out[i] = r.under(true, typed[i])
		}
		return out
	}
	return masked(value)
}

// All returns decoded YAML or JSON with Mark in place of each value, whatever name it stands under. What is empty, true or false stays: it is no
// secret.
func All(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(typed))
		for key, below := range typed {
			out[key] = All(below)
		}
		return out
	case []any:
		out := make([]any, len(typed))
		for i := range typed {
			out[i] = All(typed[i])
		}
		return out
	}
	return masked(value)
}

// masked is Mark in place of a value that is no map and no list, unless it is no secret.
func masked(value any) any {
	switch typed := value.(type) {
	case nil, bool:
		return value
	case string:
		if typed == "" {
			return typed
		}
	}
	return Mark
}

var (
	humps  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	secret = regexp.MustCompile(`(^|[-_.])(password|passwd|passphrase|token|secret|api[-_]?key|private[-_]?key|secret[-_]?key|access[-_]?key|certificate[-_]?key|key[-_]data|credentials?|auth|authorization|cookie)$`)
)

// SecretName says whether what stands under a name, in whatever style it is written, is usually a secret. A name that
// only refers to one (secretName, tokenSecretRef) is not of that kind.
func SecretName(name string) bool {
	return secret.MatchString(strings.ToLower(humps.ReplaceAllString(name, "${1}-${2}")))
}
