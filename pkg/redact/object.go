package redact

import (
	"fmt"
	"strconv"
)

// Value returns a copy of decoded JSON or YAML without secrets. It redacts known secrets in strings and numbers, and
// all strings and numbers under a secret's name. Keys stay as they are. It omits metadata that only repeats an object,
// such as the annotation of kubectl apply.
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
		if r.words[typed] != nil {
			return Mark
		}
		return r.Text(typed)
	case nil, bool:
		return v
	}
	if text := scalar(v); r.Text(text) != text {
		return Mark
	}
	return v
}

// scalar returns a value that is no map and no list as its author wrote it: to YAML, a password of digits is a number.
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
		out[key] = r.under(key, secret, value)
	}
	return out
}

// under returns the value of a key without secrets. If secret is true, all its strings and numbers are secrets. In a
// nested map each name decides again.
func (r *Redactor) under(key string, secret bool, value any) any {
	// The name of a component, for example, may equal a password.
	if text, isText := value.(string); isText && !secret && Public(key) {
		return r.Text(text)
	}
	if !secret {
		return r.Value(value)
	}
	switch typed := value.(type) {
	case map[string]any:
		return r.object(typed)
	case []any:
		out := make([]any, len(typed))
		for i := range typed {
			out[i] = r.under(key, true, typed[i])
		}
		return out
	}
	return masked(value)
}

// All returns decoded YAML or JSON with Mark in place of each value, whatever its name. Empty, null, true and false
// values stay: they are no secrets.
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

// masked returns Mark for a value that is no map and no list, unless the value is empty or a boolean.
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
