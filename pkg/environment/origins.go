package environment

import (
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
)

// Origin says where a value is from.
type Origin struct {
	Path  string `json:"path"`  // dotted; an entry of a list has its number
	From  string `json:"from"`  // a file, a flag, or the chart
	Value any    `json:"value"` // a secret as it is: whoever shows it masks it
}

// Origins are all values that the chart works with in a phase, in the order of their paths, with the place that each is from.
func (e *Environment) Origins(phase Phase) []Origin {
	layers := e.layers()
	if phase == Bootstrap {
		bootstrap, _ := chartutil.ReadValues(e.bootstrap) // a test reads it
		own := layer{e.title + ", bootstrap.values.yaml of the chart", bootstrap}
		layers = append(layers[:len(layers)-1:len(layers)-1], own, layers[len(layers)-1])
	}
	var origins []Origin
	for _, leaf := range valuesBelow("", e.settled[phase]) {
		leaf.From = "cluster-init"
		for _, place := range layers {
			if _, there := at(place.values, leaf.Path); there {
				leaf.From = place.name
				break
			}
		}
		origins = append(origins, leaf)
	}
	return origins
}

// valuesBelow are the values below a path. What is empty has nothing below it, and is one itself.
func valuesBelow(path string, value any) []Origin {
	var found []Origin
	switch typed := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(typed) {
			found = append(found, valuesBelow(strings.TrimPrefix(path+"."+key, "."), typed[key])...)
		}
	case chartutil.Values:
		return valuesBelow(path, map[string]any(typed))
	case []any:
		for i, entry := range typed {
			found = append(found, valuesBelow(fmt.Sprintf("%s.%d", path, i), entry)...)
		}
	}
	if found == nil && path != "" {
		found = []Origin{{Path: path, Value: value}}
	}
	return found
}
