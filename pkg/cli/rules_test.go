package cli

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/diagnose"
)

var (
	namedCommand = regexp.MustCompile("(?:`|: )cluster-init ([a-z]+)")
	namedFlag    = regexp.MustCompile("(?:^|[ `(])(--[a-z][a-z-]+)")
	namedValue   = regexp.MustCompile(`\bvalues?:? ([a-z_]+(?:\.[a-z_*]+)+)`)
	others       = regexp.MustCompile(
		`\b(kubectl|docker|openstack|etcdctl|flux|helm|kubeadm|crictl|ping|timedatectl) ` +
			"[^;,`]*")
)

// reference is what remedies may name: the commands and flags of this binary, and the values of the chart.
type reference struct {
	root     *cobra.Command
	flags    map[string]bool
	schema   map[string]any
	commands int // that were named so far
}

func newReference(t *testing.T) *reference {
	t.Helper()
	root := newRoot(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	r := &reference{root: root, flags: map[string]bool{}}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { r.flags["--"+f.Name] = true })
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
	content, err := os.ReadFile("../../charts/telco-cloud-init/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &r.schema); err != nil {
		t.Fatal(err)
	}
	if !r.flags["--kubeconfig"] || hasKey(r.schema, []string{"cluster", "flavour"}) ||
		!hasKey(r.schema, []string{"components", "*", "enabled"}) {
		t.Fatal("the flags or the schema are not read as they should be")
	}
	return r
}

// check verifies that what a remedy names exists: commands, flags, and values, also those that are listed besides.
func (r *reference) check(t *testing.T, name, remedy string, values ...string) {
	t.Helper()
	for _, named := range namedCommand.FindAllStringSubmatch(remedy, -1) {
		r.commands++
		if found, _, err := r.root.Find(named[1:2]); err != nil || found == r.root {
			t.Errorf("%s names the command %q, which does not exist", name, named[0])
		}
	}
	for _, flag := range namedFlag.FindAllStringSubmatch(others.ReplaceAllString(remedy, ""), -1) {
		if !r.flags[flag[1]] {
			t.Errorf("%s names the flag %s, which does not exist", name, flag[1])
		}
	}
	for _, named := range namedValue.FindAllStringSubmatch(remedy, -1) {
		values = append(values, named[1])
	}
	for _, key := range values {
		if !hasKey(r.schema, strings.Split(key, ".")) {
			t.Errorf("%s names the value %s, which the schema does not have", name, key)
		}
	}
	if strings.Contains(remedy, "in the values") && len(values) == 0 &&
		!strings.Contains(remedy, "that the message names") {
		t.Errorf("%s speaks of values and names none: %s", name, remedy)
	}
}

// A remedy of a rule names only commands and flags of this binary that exist, and values that the chart's schema has.
func TestRemediesOfRulesNameWhatExists(t *testing.T) {
	r := newReference(t)
	rules, err := diagnose.Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		r.check(t, rule.Name, rule.Remedy, rule.Values...)
	}
	if r.commands < 5 {
		t.Errorf("%d commands were read", r.commands)
	}
}

// The same of pkg/readiness, whose remedies are Go: every text in it is checked, so that none is left out.
func TestRemediesOfReadinessNameWhatExists(t *testing.T) {
	r := newReference(t)
	files, err := filepath.Glob("../readiness/*.go")
	if err != nil {
		t.Fatal(err)
	}
	texts, set := 0, token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, " ") { // what is compared, not said
				return true
			}
			texts++
			r.check(t, set.Position(literal.Pos()).String(), text)
			return true
		})
	}
	if texts < 200 || r.commands < 4 {
		t.Errorf("%d texts and %d commands were read", texts, r.commands)
	}
}

// hasKey reports whether a schema has a key; a star stands for a name.
func hasKey(schema map[string]any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if items, is := schema["items"].(map[string]any); is {
		return hasKey(items, path)
	}
	properties, _ := schema["properties"].(map[string]any)
	if next, is := properties[path[0]].(map[string]any); is {
		return hasKey(next, path[1:])
	}
	if more, is := schema["additionalProperties"].(map[string]any); is && path[0] == "*" {
		return hasKey(more, path[1:])
	}
	return false
}
