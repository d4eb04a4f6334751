package unpack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// The bounds of YAML. Parsers need up to 200 bytes of memory for each mark, and compare each key of a map with each
// other one.
const (
	mostDocuments = 1 << 17

	// Each of these is for one document.
	mostMarks    = 1 << 21 // characters that may begin a node
	mostNodes    = 1 << 20 // including those that aliases repeat, see below
	mostText     = 64 << 20
	mostDepth    = 1000
	mostCompares = 1 << 27
)

// YAML refuses a text that would cost its parser too much: many nodes, large maps, deep nesting, aliases that multiply
// their content or that form a cycle. All parsers of YAML can then read the text safely. It leaves invalid YAML to the
// parser, unless it contains &, which may be an anchor: another parser may accept it.
func YAML(text []byte) error {
	if err := checkMarks(text); err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var root yaml.Node
		if err := decoder.Decode(&root); errors.Is(err, io.EOF) || err != nil && !bytes.ContainsRune(text, '&') {
			return nil
		} else if err != nil { // the parser's error may quote a secret
			return errors.New(strings.TrimSuffix("not YAML: "+lineNumber.FindString(err.Error()), ": "))
		}
		total, err := (&measure{known: map[*yaml.Node]size{}, open: map[*yaml.Node]bool{}}).size(&root, 0)
		if err == nil {
			err = total.check()
		}
		if err != nil {
			return err
		}
	}
}

// Unmarshal reads untrusted YAML, as sigs.k8s.io/yaml does, if YAML accepts it.
func Unmarshal(text []byte, into any) error {
	if err := YAML(text); err != nil {
		return err
	}
	return kyaml.Unmarshal(text, into)
}

// separator matches a line that begins a document: --- alone, or before a comment or the document itself.
var separator = regexp.MustCompile(`\n---(?:[ \t\n]|$)`)

// Documents returns the texts of the documents in a YAML text with the line break \n. sigs.k8s.io/yaml reads only the
// first one of a text.
func Documents(text string) []string { return separator.Split(text, -1) }

var lineNumber = regexp.MustCompile(`line \d+`)

// checkMarks bounds the documents, and the nodes of each one, before a parser makes them.
func checkMarks(text []byte) error {
	largest, _, documents := marks(text)
	if largest > mostMarks || documents > mostDocuments {
		return fmt.Errorf("%w: it has too many lines, entries or documents", ErrTooLarge)
	}
	return nil
}

// Marks counts the characters that may begin a node of YAML, and the documents: one, and one for each line that begins
// with ---.
func Marks(text []byte) (all, documents int) {
	_, all, documents = marks(text)
	return all, documents
}

// marks also returns the marks of the largest document.
func marks(text []byte) (largest, all, documents int) {
	here := 0
	documents = 1
	for i, c := range text {
		switch c {
		case '\n', ',', ':', '-', '?', '[', '{', '*':
			here++
			all++
			largest = max(largest, here)
		}
		if c == '-' && (i == 0 || text[i-1] == '\n') && bytes.HasPrefix(text[i:], []byte("---")) {
			here = 0
			documents++
		}
	}
	return largest, all, documents
}

// size is the size of a node with everything below it.
type size struct{ nodes, text, depth, compares int64 }

func (s size) check() error {
	switch {
	case s.nodes > mostNodes:
		return fmt.Errorf("%w: a document has more than %d nodes, with those that aliases stand for", ErrTooLarge,
			mostNodes)
	case s.text > mostText:
		return fmt.Errorf("%w: aliases make it more than %d MiB", ErrTooLarge, mostText>>20)
	case s.depth > mostDepth:
		return fmt.Errorf("%w: it is nested more than %d levels deep", ErrTooLarge, mostDepth)
	case s.compares > mostCompares:
		return fmt.Errorf("%w: its maps have too many keys", ErrTooLarge)
	}
	return nil
}

// measure computes the size of nodes. All aliases of a node share one result.
type measure struct {
	known map[*yaml.Node]size
	open  map[*yaml.Node]bool // the targets of aliases that contain the current node
}

// size fails at the first node that is too large, so that sums do not overflow.
func (m *measure) size(node *yaml.Node, above int64) (size, error) {
	if node.Kind == yaml.AliasNode {
		return m.behind(node, above)
	}
	total := size{nodes: 1, text: int64(len(node.Value)), depth: 1}
	if above > mostDepth {
		total.depth = above + 1
		return total, total.check()
	}
	if node.Kind == yaml.MappingNode {
		keys := int64(len(node.Content) / 2)
		total.compares = keys * keys / 2
	}
	for _, child := range node.Content {
		below, err := m.size(child, above+1)
		if err != nil {
			return total, err
		}
		total.nodes += below.nodes
		total.text += below.text
		total.compares += below.compares
		total.depth = max(total.depth, below.depth+1)
		if err := total.check(); err != nil {
			return total, err
		}
	}
	return total, nil
}

// behind is the size of an alias's target.
func (m *measure) behind(alias *yaml.Node, above int64) (size, error) {
	if known, measured := m.known[alias.Alias]; measured {
		return known, nil
	}
	if m.open[alias.Alias] {
		return size{}, fmt.Errorf("line %d: alias *%s stands in what it stands for", alias.Line, alias.Value)
	}
	m.open[alias.Alias] = true
	defer delete(m.open, alias.Alias)
	total, err := m.size(alias.Alias, above)
	m.known[alias.Alias] = total
	return total, err
}
