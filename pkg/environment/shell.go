package environment

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shellValue is a value that a file takes from variables. A list with a variable in it is one value.
type shellValue struct {
	keys     []string // of its path
	names    []string // of its variables: as the shell calls them, or as the file does if the shell lacks them
	set      []string // those that the shell has and that are not empty
	resolved bool     // whether one of them has a value: the shell's, or a derived one
}

// path is the value's dotted path.
func (v shellValue) path() string { return strings.Join(v.keys, ".") }

// reference matches a variable in a text. An escaped one has a dollar sign before it.
var reference = regexp.MustCompile(`(^|[^$])\$\{([A-Za-z_][A-Za-z0-9_]*)(:=[^}]*)?\}`)

// shellValues are the values in a YAML file that take variables. The file was expanded before, so that each variable
// was looked up.
func (s *substituter) shellValues(content []byte) []shellValue {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var found []shellValue
	for {
		var document yaml.Node
		if decoder.Decode(&document) != nil { // the end, or an error that the expansion has reported
			return found
		}
		found = append(found, s.shellBelow(nil, &document)...)
	}
}

// shellBelow are those below a node at the path of keys.
func (s *substituter) shellBelow(keys []string, node *yaml.Node) []shellValue {
	var found []shellValue
	switch node.Kind {
	case yaml.DocumentNode:
		for _, child := range node.Content {
			found = append(found, s.shellBelow(keys, child)...)
		}
	case yaml.AliasNode:
		return s.shellBelow(keys, node.Alias)
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i].Value, node.Content[i+1]
			if len(keys) == 1 && (keys[0] == "data" || keys[0] == "stringData") && key == ValuesKey &&
				value.Kind == yaml.ScalarNode {
				found = append(found, s.shellValues([]byte(value.Value))...) // a manifest that contains values as text
				continue
			}
			found = append(found, s.shellBelow(append(slices.Clone(keys), key), value)...)
		}
	default:
		if v := (shellValue{keys: keys}); s.takes(&v, node) {
			found = append(found, v)
		}
	}
	return found
}

// takes adds to v the variables of all scalars under node, and reports whether there are any.
func (s *substituter) takes(v *shellValue, node *yaml.Node) bool {
	for _, child := range node.Content {
		s.takes(v, child)
	}
	if node.Kind == yaml.ScalarNode {
		for _, match := range reference.FindAllStringSubmatch(node.Value, -1) {
			name, set := s.setAs(match[2])
			v.names = append(v.names, name)
			if set {
				v.set = append(v.set, name)
			}
			v.resolved = v.resolved || set || s.derived[match[2]]
		}
	}
	return len(v.names) > 0
}

// setAs returns the shell's name of a variable, and whether the shell has it.
func (s *substituter) setAs(name string) (string, bool) {
	for _, other := range spellings(name) {
		if s.inShell[other] {
			return other, true
		}
	}
	return name, false
}

// shellValueAt returns the variables that give the value at a path, whether or not the cluster has another one stored.
// False means no variable gives it.
func (e *Environment) shellValueAt(keys []string) (shellValue, bool) {
	for _, place := range e.givenLayers() {
		if _, there := below(place.values, keys); there {
			return place.shellValueAt(keys)
		}
	}
	return shellValue{}, false
}

// shellValueAt is that of one place. What is below a value, such as a list entry, belongs to the value.
func (l layer) shellValueAt(keys []string) (shellValue, bool) {
	for _, v := range l.shell {
		if len(v.keys) <= len(keys) && slices.Equal(v.keys, keys[:len(v.keys)]) {
			return v, true
		}
	}
	return shellValue{}, false
}

// shellValues are all values that variables give, each at its effective place, sorted by path.
func (e *Environment) shellValues() []shellValue {
	seen := map[string]bool{}
	var found []shellValue
	for _, place := range e.givenLayers() {
		for _, candidate := range place.shell {
			if seen[candidate.path()] {
				continue
			}
			seen[candidate.path()] = true
			if v, counts := e.shellValueAt(candidate.keys); counts {
				found = append(found, v)
			}
		}
	}
	slices.SortFunc(found, func(a, b shellValue) int { return compareKeys(a.path(), b.path()) })
	return found
}
