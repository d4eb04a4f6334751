package environment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/helm"
)

// Origin is a value with its place.
type Origin struct {
	Path  string `json:"path"`  // dotted; an entry of a list has its number
	From  string `json:"from"`  // a variable, a file, a flag, the chart, the cluster's last values, or cluster-init
	Value any    `json:"value"` // a secret is not masked here: mask it before you show it

	keys []string // of the path: a key may contain dots
}

// In returns the value at the same path of other values.
func (o Origin) In(values map[string]any) any {
	value, _ := below(values, o.keys)
	return value
}

// Origins returns all values that the chart uses in a phase, in the order of their paths, each with its place.
func (e *Environment) Origins(phase Phase) []Origin {
	layers := e.layers()
	if file := e.phased[phase]; len(file) > 0 {
		values, _ := helm.ReadValues(file) // a test reads it
		own := layer{name: fmt.Sprintf("%s, %s.values.yaml of the chart", e.title, phase), values: values}
		layers = append(layers[:len(layers)-1:len(layers)-1], own, layers[len(layers)-1])
	}
	var origins []Origin
	for _, leaf := range valuesBelow(nil, e.settled[phase]) {
		leaf.From = "cluster-init"
		for _, place := range layers {
			if _, there := below(place.values, leaf.keys); there {
				leaf.From = place.origin(leaf.keys)
				break
			}
		}
		origins = append(origins, leaf)
	}
	return origins
}

// valuesBelow are the values below some keys. An empty map or list is a value itself.
func valuesBelow(keys []string, value any) []Origin {
	var found []Origin
	with := func(key string) []string { return append(slices.Clone(keys), key) }
	switch typed := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(typed) {
			found = append(found, valuesBelow(with(key), typed[key])...)
		}
	case []any:
		for i, entry := range typed {
			found = append(found, valuesBelow(with(strconv.Itoa(i)), entry)...)
		}
	}
	if found == nil && keys != nil {
		found = []Origin{{Path: strings.Join(keys, "."), Value: value, keys: keys}}
	}
	return found
}
