package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// substituter reads YAML files with their variables filled in. It works on parsed scalars, never on text, so a
// value cannot change the structure of the file, whatever it holds.
type substituter struct {
	lookup func(string) (string, bool)
	failed error // why a variable could not be looked up
	// first error. kustomize rewrites the errors of its file system, and it alone knows which file it was.
	err error
}

// process returns the content of a file as kustomize shall see it; files that are not YAML are left alone.
func (s *substituter) process(path string, content []byte) ([]byte, error) {
	if !isYAML(path) {
		return content, nil
	}
	out, err := substitute(content, s.lookup)
	shown := strings.TrimPrefix(path, embeddedRoot)
	if s.failed != nil { // then it does not matter that there is a default, or none
		s.err = fmt.Errorf("%s: %w", shown, s.failed)
		return nil, s.err
	}
	if err == nil {
		return out, nil
	}
	wrapped := fmt.Errorf("%s: %w", shown, err)
	var missing missingVariable
	if errors.As(err, &missing) {
		err = fault.Wrap(wrapped, fault.VariableMissing, fmt.Sprintf("set it (export %s=...), or give it a default in the file: ${%s:=...}", missing.name, missing.name))
	} else {
		err = fault.Wrap(wrapped, fault.EnvironmentInvalid, "correct the file "+shown)
	}
	s.err = errors.Join(s.err, err)
	return nil, err
}

func substitute(content []byte, lookup func(string) (string, bool)) ([]byte, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not YAML: %w", err)
		}
		// A node takes a key that is there twice; a value does not.
		var probe any
		if err := node.Decode(&probe); err != nil {
			return nil, fmt.Errorf("not YAML: %w", err)
		}
		if err := expandNode(&node, lookup); err != nil {
			return nil, err
		}
		if err := encoder.Encode(&node); err != nil {
			return nil, fmt.Errorf("write it again: %w", err)
		}
	}
	if err := encoder.Close(); err != nil {
		return nil, fmt.Errorf("write it again: %w", err)
	}
	return out.Bytes(), nil
}

// expandNode fills in the variables of all scalars under node. A scalar without quotes takes the type of what it
// becomes, one with quotes stays a string.
func expandNode(node *yaml.Node, lookup func(string) (string, bool)) error {
	for _, child := range node.Content {
		if err := expandNode(child, lookup); err != nil {
			return err
		}
	}
	if node.Kind != yaml.ScalarNode || !strings.Contains(node.Value, "${") {
		return nil
	}
	value, err := expand(node.Value, lookup)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	node.Value = value
	if node.Style != 0 {
		return nil
	}
	node.Tag = ""
	if value == "" || strings.Contains(value, "\n") {
		// Nothing would be null, and null deletes.
		node.Tag, node.Style = "!!str", yaml.DoubleQuotedStyle
	}
	return nil
}

func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml" || filepath.Base(path) == "Kustomization"
}
