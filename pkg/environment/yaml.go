package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/helm"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// readValues reads values from any author, as Helm does.
func readValues(text []byte) (map[string]any, error) {
	if err := unpack.YAML(text); err != nil {
		return nil, err
	}
	return helm.ReadValues(text)
}

// onlyDocument returns the document of a YAML file. Nil means it has none, or it is empty. More than one is refused:
// readers of values read only the first.
func onlyDocument(content []byte) (*yaml.Node, error) {
	if err := unpack.YAML(content); errors.Is(err, unpack.ErrTooLarge) { // the parser describes other mistakes better
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var only *yaml.Node
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return only, nil
		}
		var probe any
		if err == nil { // a node accepts a duplicate key; a value does not
			err = node.Decode(&probe)
		}
		switch {
		case err != nil:
			return nil, notYAML(content, err)
		case probe == nil:
		case only != nil:
			return nil, fault.Wrap(fmt.Errorf("line %d: a second document begins: only one is allowed", node.Line),
				fault.EnvironmentInvalid,
				"Join the documents, and delete the line --- between them.")
		default:
			only = &node
		}
	}
}

// notYAML describes the mistake in a file. The parser's message does not help with an odd space.
func notYAML(content []byte, err error) error {
	for i, line := range strings.Split(string(content), "\n") {
		if name := oddSpace(line); name != "" && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			return fault.Wrap(fmt.Errorf("not YAML: line %d has a %s: %w", i+1, name, err), fault.EnvironmentInvalid,
				plainSpace)
		}
	}
	if strings.Contains(err.Error(), "unknown anchor") { // the parser quotes it, and it may be a password
		err = errors.New("text that begins with * is an alias, and has no anchor here: put it into quotes")
	}
	return fmt.Errorf("not YAML: %w", err)
}

const plainSpace = "Write a plain space in its place."

// checkSpaces refuses odd spaces that YAML treats as letters: in keys, around unquoted text, and in unquoted text with
// a colon.
func checkSpaces(node *yaml.Node) error {
	switch {
	case node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if name := oddSpace(node.Content[i].Value); name != "" {
				return spaceProblem(node.Content[i], name)
			}
		}
	case node.Kind == yaml.ScalarNode && node.Style == 0:
		inner := strings.TrimFunc(node.Value, func(r rune) bool { return oddSpaces[r] != "" || unicode.IsSpace(r) })
		colon := oddSpace(node.Value) != "" && strings.Contains(node.Value, ":")
		if name := oddSpace(node.Value); name != "" && (inner != node.Value || colon) {
			return spaceProblem(node, name)
		}
	}
	for _, child := range node.Content {
		if err := checkSpaces(child); err != nil {
			return err
		}
	}
	return nil
}

func spaceProblem(node *yaml.Node, name string) error {
	return fault.Wrap(fmt.Errorf("line %d has a %s, which YAML takes for a letter", node.Line, name),
		fault.EnvironmentInvalid, plainSpace)
}

// oddSpaces are invisible characters that editors and web pages insert instead of spaces, or between letters.
var oddSpaces = map[rune]string{
	'\u00a0': "no-break space (U+00A0)", '\u202f': "narrow no-break space (U+202F)", '\u2007': "figure space (U+2007)",
	'\u3000': "wide space (U+3000)",
	'\u200b': "zero-width space (U+200B)", '\u2060': "word joiner (U+2060)", '\ufeff': "byte order mark (U+FEFF)",
}

// oddSpace names the first odd space in a text. Empty means it has none.
func oddSpace(text string) string {
	for _, r := range text {
		if name := oddSpaces[r]; name != "" {
			return name
		}
	}
	return ""
}
