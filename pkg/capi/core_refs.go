package capi

import "slices"

// CoreRefs returns the Secrets and ConfigMaps that the spec of an object in a namespace references, each once.
func CoreRefs(namespace string, spec map[string]any) []Key {
	n := refCollector{namespace: namespace}
	n.read(spec)
	var keys []Key
	for _, key := range n.keys {
		isCore := key.GroupKind == secretKind.GroupKind() || key.GroupKind == configMapKind.GroupKind()
		if isCore && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}
