package environment

import (
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/helm"
)

// keepText restores the text of values of a --set that the schema wants as text and Helm's parser has turned into
// numbers or booleans.
func (e *Environment) keepText(set string, target map[string]any) {
	parsed, asText := map[string]any{}, map[string]any{}
	if helm.Set(set, parsed) != nil || helm.SetText(set, asText) != nil {
		return // it was reported
	}
	for _, leaf := range valuesBelow(nil, parsed) {
		switch leaf.Value.(type) {
		case int64, float64, bool:
		default:
			continue
		}
		text, there := below(asText, leaf.keys)
		if there && e.schemaAt("/" + strings.Join(leaf.keys, "/"))["type"] == "string" {
			replaceAt(target, leaf.keys, text)
		}
	}
}

// replaceAt replaces an existing value.
func replaceAt(values any, keys []string, value any) {
	parent, there := below(values, keys[:len(keys)-1])
	if !there {
		return
	}
	last := keys[len(keys)-1]
	switch typed := parent.(type) {
	case map[string]any:
		typed[last] = value
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i < len(typed) {
			typed[i] = value
		}
	}
}
