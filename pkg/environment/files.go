package environment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// substituter reads YAML files with their variables filled in. It works on parsed scalars, never on text, so a value
// cannot change the structure of the file, whatever it contains.
type substituter struct {
	lookup func(string) (string, bool)
	failed error // the error of the last variable lookup
	// inShell are the variables that the shell has and that are not empty, derived those with a value from elsewhere,
	// of all looked up so far.
	inShell, derived map[string]bool
	// problems are all mistakes in files so far. Most count only if the result of all files still contains their value.
	problems []problem
	filled   map[string]bool // scalars with a filled-in variable, in their final form
	layers   []layer         // the values of each file, in the order of reading
	withheld []withheld      // the secrets of other folders
}

// mostVariables is the maximum number in a file: each missing one is compared with all values.
const mostVariables = 2000

// process returns the content of a YAML file of values with its variables filled in, and records its layer. A value
// whose variable is missing is unknown from then on: only a file that cannot be read at all is an error at once.
func (s *substituter) process(file origin, content []byte) ([]byte, error) {
	out, err := s.substitute(file, content)
	if err != nil {
		err = fault.Wrap(fmt.Errorf("%s: %w", file, err), fault.EnvironmentInvalid,
			cmp.Or(fault.HintOf(err), file.hint()))
		s.problems = append(s.problems, problem{err: err})
		return nil, err
	}
	from := layerOf(file, out)
	from.shell = s.shellValues(content)
	s.layers = append(s.layers, from)
	return out, nil
}

// located adds the place of a problem with a scalar, and a hint.
func located(file origin, line int, err error) error {
	here := fmt.Errorf("%s: line %d: %w", file, line, err)
	var missing missingVariable
	var forbidden forbiddenVariable
	switch {
	case errors.As(err, &forbidden) && !file.builtIn:
		return fault.Wrap(here, fault.EnvironmentInvalid, forbidden.hint())
	case errors.As(err, &missing) && file.builtIn:
		return fault.Wrap(here, fault.VariableMissing, fmt.Sprintf("Set it: export %s=...", missing.name))
	case errors.As(err, &missing):
		return fault.Wrap(here, fault.VariableMissing,
			fmt.Sprintf("Set it (export %s=...), or give it a default in the file: ${%s:=...}", missing.name,
				missing.name))
	}
	return fault.Wrap(here, fault.EnvironmentInvalid, file.hint())
}

func (s *substituter) substitute(file origin, content []byte) ([]byte, error) {
	if bytes.Count(content, []byte("${")) > mostVariables {
		return nil, fmt.Errorf("it has more than %d variables", mostVariables)
	}
	root, err := onlyDocument(content)
	if err != nil || root == nil {
		return nil, err
	}
	if err := checkSpaces(root); err != nil {
		return nil, err
	}
	if root.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: it is not a YAML map of values (KEY: VALUE)", root.Content[0].Line)
	}
	s.expandNode(file, root)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	if err := fault.Join(encoder.Encode(root), encoder.Close()); err != nil {
		return nil, fmt.Errorf("write it again: %w", err)
	}
	return out.Bytes(), unpack.YAML(out.Bytes()) // a variable may be large, and an alias may repeat it
}

// expandNode fills in the variables of all scalars under node. A scalar without quotes gets the type of its new
// content, unless that is empty or has several lines. One with quotes stays a string.
func (s *substituter) expandNode(file origin, node *yaml.Node) {
	for _, child := range node.Content {
		s.expandNode(file, child)
	}
	if node.Kind != yaml.ScalarNode || !strings.Contains(node.Value, "${") {
		return
	}
	used := false // the value of a variable, not only defaults
	value, err := expand(node.Value, func(name string) (string, bool) {
		value, found := s.lookup(name)
		used = used || value != ""
		return value, found
	})
	var problems []error
	if s.failed != nil { // then a default does not matter
		problems, err, s.failed = []error{fmt.Errorf("%s: %w", file, s.failed)}, nil, nil
	}
	for _, problem := range fault.Problems(err) {
		problems = append(problems, located(file, node.Line, problem))
	}
	if problems != nil {
		value = s.unknown(problems)
	}
	if value != "" && used {
		s.filled[value] = true
	}
	node.Value = value
	if node.Style != 0 {
		return
	}
	node.Tag = ""
	if value == "" || strings.Contains(value, "\n") {
		// Empty text would become null, and null deletes.
		node.Tag, node.Style = "!!str", yaml.DoubleQuotedStyle
	}
}

// refuseVariables refuses what looks like a variable in a file that is not a YAML file of values.
func (s *substituter) refuseVariables(file origin, content []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var problems []error
	for {
		var node yaml.Node
		if decoder.Decode(&node) != nil { // the end, or invalid YAML, which kustomize reports
			break
		}
		for _, line := range linesWithVariables(&node) {
			problems = append(problems, fault.New(fault.EnvironmentInvalid,
				fmt.Sprintf("%s: line %d: variables are filled in only in files of values and secrets", file, line),
				"Move the value into a file that configMapGenerator or secretGenerator names."))
		}
	}
	for _, err := range problems {
		s.problems = append(s.problems, problem{err: err})
	}
	return fault.Join(problems...)
}

func linesWithVariables(node *yaml.Node) []int {
	if node.Kind == yaml.ScalarNode && strings.Contains(node.Value, "${") {
		return []int{node.Line}
	}
	var lines []int
	for _, child := range node.Content {
		lines = append(lines, linesWithVariables(child)...)
	}
	return lines
}

func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml" || filepath.Base(path) == "Kustomization"
}
