package environment

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// differences returns the values that differ, those of a map one by one. It shows no value at a secret path, or whose
// key names a secret.
func differences(path string, before, after map[string]any, secret map[string]bool) []Change {
	var all []Change
	keys := map[string]any{}
	maps.Copy(keys, before)
	maps.Copy(keys, after)
	for key := range keys {
		at := strings.TrimPrefix(path+"."+key, ".")
		one, other := before[key], after[key]
		oneMap, isMap := one.(map[string]any)
		otherMap, isOtherMap := other.(map[string]any)
		switch {
		case isMap && isOtherMap, isMap && other == nil, isOtherMap && one == nil:
			all = append(all, differences(at, oneMap, otherMap, secret)...)
		case shown(one) == shown(other):
		case secret[at] || Secret(key) || hasSecret(one) || hasSecret(other) || isMap || isOtherMap:
			// the content of a map may be secret
			all = append(all, Change{Key: at})
		default:
			all = append(all, Change{Key: at, From: short(one), To: short(other)})
		}
	}
	return all
}

// shown formats a value as JSON: a number is the same whether it was read from YAML or not. Null and empty lists and
// maps are none.
func shown(value any) string {
	if empty := reflect.ValueOf(value); !empty.IsValid() ||
		(empty.Kind() == reflect.Slice || empty.Kind() == reflect.Map) && empty.Len() == 0 {
		return "none"
	}
	encoded, err := json.Marshal(value)
	if err != nil { // not a value from YAML
		return "?"
	}
	return string(encoded)
}

const longestShown = 60

// userinfo is the part of an address that may hold a password.
var userinfo = regexp.MustCompile(`://[^/@"\s]*@`)

func short(value any) string {
	text := userinfo.ReplaceAllString(shown(value), "://***@")
	if len(text) > longestShown {
		return strings.ToValidUTF8(text[:longestShown], "") + "..."
	}
	return text
}

// secretPaths are the paths of all values in the Secrets of documents.
func secretPaths(all ...documents) map[string]bool {
	paths := map[string]bool{}
	for _, d := range all {
		for _, values := range []map[string]any{d.secrets, d.infraSecrets} {
			leaves("", values, paths)
		}
	}
	return paths
}

func leaves(path string, values map[string]any, into map[string]bool) {
	for key, value := range values {
		at := strings.TrimPrefix(path+"."+key, ".")
		if nested, isMap := value.(map[string]any); isMap {
			leaves(at, nested, into)
			continue
		}
		into[at] = true
	}
}

// compareKeys compares paths by their parts.
func compareKeys(a, b string) int {
	return cmp.Or(slices.Compare(strings.Split(a, "."), strings.Split(b, ".")), cmp.Compare(a, b))
}
