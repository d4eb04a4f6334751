package unpack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// chain are anchors, each of which has so many aliases of the one before.
func chain(anchors, aliases int) string {
	var b strings.Builder
	fmt.Fprintln(&b, "a0: &a0 [x]")
	for i := 1; i <= anchors; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), aliases),
			","))
	}
	return b.String()
}

func list(entry string, n int) string { return "[" + strings.Repeat(entry, n) + "]" }

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

// A small text may ask its parser for any amount of work.
func TestYAML(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"values":                  {"a: {b: [1, 2, \"x\"]}\n---\nc: &c d\ne: *c\n", ""},
		"nothing":                 {"", ""},
		"no YAML":                 {"a: [", ""},
		"no YAML, with an anchor": {"a: &a b\nc: [", "not YAML: line"},
		"binary":                  {"\x00\x01\xff", ""},
		"JSON":                    {`{"a": [1, {"b": null}]}`, ""},
		"aliases":                 {"a: &a " + strings.Repeat("x", 1000) + "\nb: " + list("*a,", 1000), ""},
		"a map":                   {keys(10_000), ""},
		"a long text":             {"a: |\n" + strings.Repeat("  "+strings.Repeat("x", 100)+"\n", 20_000), ""},
		"many documents":          {strings.Repeat("a: {b: c}\n---\n", 100_000), ""},
		"aliases of aliases":      {chain(10, 9), "more than 1048576 nodes"},
		"aliases of a large text": {"a: &a " + strings.Repeat("x", 1<<20) + "\nb: " + list("*a,", 100),
			"more than 64 MiB"},
		"aliases of a large map": {"a: &a" + strings.ReplaceAll("\n"+keys(5000), "\n", "\n  ") + "\nb: " +
			list("*a,", 100), "too many keys"},
		"an alias in what it stands in": {"a: &a [*a]\n", "line 1: alias *a stands in what it stands for"},
		"a deep alias":                  {strings.ReplaceAll(chain(1500, 1), "[x]", "x"), "levels deep"},
		"brackets":                      {"a: [" + strings.Repeat("[],", 1<<20) + "]", "too many lines"},
		"a deep list":                   {strings.Repeat("[", 1500) + strings.Repeat("]", 1500), "levels deep"},
		"keys":                          {keys(20_000), "too many keys"},
		"text":                          {"a: [" + strings.Repeat("x,", 1<<20+1) + "]", "more than 1048576 nodes"},
		"documents":                     {strings.Repeat("---\n", 1<<18), "too many"},
		"it comes second":               {"a: b\n---\n" + keys(20_000), "too many keys"},
	} {
		err := unpack.YAML([]byte(tc.text))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestDocuments(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                {""},
		"a: 1\n":                          {"a: 1\n"},
		"a: 1\n---\nb: 2\n":               {"a: 1", "b: 2\n"},
		"a: 1\n--- # why\nb: 2\n":         {"a: 1", "# why\nb: 2\n"},
		"a: 1\n---  \nb: 2\n---\t# c\nc:": {"a: 1", " \nb: 2", "# c\nc:"},
		"a: 1\n--- {b: 2}\n---":           {"a: 1", "{b: 2}", ""},
		"---\na: 1\n":                     {"---\na: 1\n"},
		"a: |\n  b\n  ---\n  c\n----\n":   {"a: |\n  b\n  ---\n  c\n----\n"},
	} {
		if got := unpack.Documents(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
