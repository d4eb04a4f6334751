package sylva

import (
	"bytes"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func newMap() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.DoubleQuotedStyle}
}

// each calls do for each entry of a map.
func each(of *yaml.Node, do func(key string, keyNode, value *yaml.Node)) {
	if of.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		do(of.Content[i].Value, of.Content[i], of.Content[i+1])
	}
}

// lookup is the value at a path. Nil means there is none.
func lookup(of *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		var found *yaml.Node
		each(of, func(key string, _, value *yaml.Node) {
			if key == name {
				found = value
			}
		})
		if found == nil {
			return nil
		}
		of = found
	}
	return of
}

// put sets a value at a path, with the comments of its key, and makes missing maps. Maps are merged, all else that is
// there stays. False means that another value, or any list, was there.
func put(in *yaml.Node, path []string, comments, value *yaml.Node) bool {
	last := path[len(path)-1]
	for _, name := range path[:len(path)-1] {
		next := lookup(in, name)
		if next == nil {
			next = newMap()
			in.Content = append(in.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, next)
		}
		if next.Kind != yaml.MappingNode {
			return false
		}
		in = next
	}
	there := lookup(in, last)
	switch {
	case there == nil:
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: last}
		if comments != nil {
			key.HeadComment, key.LineComment, key.FootComment = comments.HeadComment, comments.LineComment,
				comments.FootComment
		}
		in.Content = append(in.Content, key, value)
		return true
	case there.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
		all := true
		each(value, func(key string, comments, value *yaml.Node) {
			all = put(there, []string{key}, comments, value) &&
				all
		})
		return all
	}
	return there.Kind == yaml.ScalarNode && value.Kind == yaml.ScalarNode && there.Value == value.Value
}

// isEmpty reports whether a value is empty: the seed's files have keys that wait for a value.
func isEmpty(n *yaml.Node) bool {
	return n.Tag == "!!null" || n.Kind == yaml.ScalarNode && n.Value == "" || n.Kind != yaml.ScalarNode &&
		len(n.Content) == 0
}

// withoutNull removes nulls from a map and the maps in it: they would delete values of the base environment.
func withoutNull(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return n
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if value := withoutNull(n.Content[i+1]); value.Tag != "!!null" {
			kept = append(kept, n.Content[i], value)
		}
	}
	n.Content = kept
	return n
}

// emptyIn is the path of the first value that is null below a value. Nil means there is none.
func emptyIn(n *yaml.Node, path []string) []string {
	var found []string
	each(n, func(key string, _, value *yaml.Node) {
		here := append(slices.Clone(path), key)
		switch {
		case found != nil:
		case value.Tag == "!!null":
			found = here
		default:
			found = emptyIn(value, here)
		}
	})
	return found
}

// isTemplate reports whether a value contains a template, which the seed's chart renders. This project's chart does so
// for components only.
func isTemplate(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return strings.Contains(n.Value, "{{")
	}
	for _, below := range n.Content {
		if isTemplate(below) {
			return true
		}
	}
	return false
}

func encode(n *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(n); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// copied returns a deep copy of a value.
func copied(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, below := range n.Content {
		out.Content[i] = copied(below)
	}
	return &out
}
