package environment

import (
	"reflect"
	"strconv"
	"strings"
)

// origin is a file as its user knows it.
type origin struct {
	path    string
	builtIn bool // from the binary
}

// keptPlace names the place of values stored in a cluster.
const keptPlace = "the cluster's last values"

const builtInPrefix = "built-in "

// String is the path as the user wrote it, or a title for a file that no user wrote.
func (o origin) String() string {
	if o.builtIn {
		return builtInPrefix + o.path
	}
	return o.path
}

func (o origin) hint() string {
	if o.builtIn {
		return "Build cluster-init again: its own file is wrong."
	}
	return "correct the file " + o.path
}

// layer is one of the places that values come from.
type layer struct {
	name    string
	values  map[string]any
	shell   []shellValue // which of the values variables give
	builtIn bool         // a file that the binary carries
}

// layerOf reads the values in a file: a values file, or the manifest of an object with values.
func layerOf(file origin, content []byte) layer {
	values, err := readValues(content)
	if err != nil {
		return layer{}
	}
	for _, field := range []string{"data", "stringData"} {
		if data, isMap := values[field].(map[string]any); isMap {
			if text, isText := data[ValuesKey].(string); isText {
				values, _ = readValues([]byte(text))
			}
		}
	}
	return layer{name: file.String(), values: values, builtIn: file.builtIn}
}

// whence names the place of one of some values, or "" if none is set. A place that overrides others comes first: the
// mistake is probably in what was changed.
func (e *Environment) whence(paths ...string) string {
	for _, place := range e.layers() {
		for _, path := range paths {
			if _, there := at(place.values, path); there {
				return place.origin(strings.Split(path, ".")) + ": "
			}
		}
	}
	return ""
}

// layers are all places of values, each before those that it overrides.
func (e *Environment) layers() []layer {
	return append([]layer{{name: keptPlace, values: e.kept}}, e.givenLayers()...)
}

// givenLayers are those without the values stored in the cluster.
func (e *Environment) givenLayers() []layer {
	layers := []layer{{name: "--set", values: e.sets}}
	for i := len(e.valuesFiles) - 1; i >= 0; i-- {
		layers = append(layers, e.valuesFiles[i])
	}
	layers = append(layers, layer{name: "set by --bundle or --registry-mirror", values: e.overrides})
	// Only kustomize knows the files of an environment: a file counts for those of its values that are in the result.
	merged := e.documents.merged()
	for i := len(e.files) - 1; i >= 0; i-- {
		values := common(e.files[i].values, merged)
		layers = append(layers, layer{name: e.files[i].name, values: values, shell: e.files[i].shell})
	}
	return append(layers, layer{name: e.title + ", by default of the chart", values: e.chart.Defaults()})
}

// origin names the place of a value: a variable of the shell, or the layer itself.
func (l layer) origin(keys []string) string {
	v, _ := l.shellValueAt(keys)
	switch {
	case len(v.set) == 0:
		return l.name
	case strings.HasPrefix(l.name, builtInPrefix): // a user has not written it
		return "variable " + strings.Join(v.set, ", ")
	}
	return l.name + ", variable " + strings.Join(v.set, ", ")
}

// common returns those of values that are the same in other.
func common(values, other map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range values {
		nested, isMap := value.(map[string]any)
		otherNested, otherIsMap := other[key].(map[string]any)
		switch {
		case isMap && otherIsMap:
			out[key] = common(nested, otherNested)
		case reflect.DeepEqual(value, other[key]):
			out[key] = value
		}
	}
	return out
}

// at returns the value at a dotted path, in which a list entry has its index.
func at(values any, path string) (any, bool) { return below(values, strings.Split(path, ".")) }

// below is at by the keys of the path, which may contain dots.
func below(values any, keys []string) (any, bool) {
	for _, key := range keys {
		switch nested := values.(type) {
		case map[string]any:
			value, there := nested[key]
			if !there {
				return nil, false
			}
			values = value
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(nested) {
				return nil, false
			}
			values = nested[i]
		default:
			return nil, false
		}
	}
	return values, true
}
