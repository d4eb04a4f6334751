package environment

import (
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	lookup := func(name string) (string, bool) {
		value, ok := map[string]string{"OS_A": "a", "OS_EMPTY": "", "OS_BRACE": "${OS_A}", "HTTP_PROXY": "up"}[name]
		return value, ok
	}
	cases := []struct{ in, want, failure string }{
		{in: "", want: ""},
		{in: "plain $ $A {x}", want: "plain $ $A {x}"},
		{in: "${OS_A}", want: "a"},
		{in: "<${OS_A}${OS_A}>", want: "<aa>"},
		{in: "${OS_EMPTY}", want: ""},
		{in: "${OS_EMPTY:=d}", want: "d"},
		{in: "${OS_NONE:=d:=e}", want: "d:=e"},
		{in: "${OS_NONE:=}", want: ""},
		{in: "${OS_BRACE}", want: "${OS_A}"},
		{in: "$${OS_A}", want: "${OS_A}"},
		{in: "${http_proxy}", want: "up"},
		{in: "${OS_NONE}", failure: "variable OS_NONE is not set"},
		{in: "${PATH:=x}", failure: "variable PATH is not one"},
		{in: "${OS_A", failure: "no closing brace"},
		{in: "${}", failure: "neither"},
		{in: "${1}", failure: "neither"},
		{in: "${OS_A:-x}", failure: "neither"},
	}
	for _, test := range cases {
		got, err := expand(test.in, lookup)
		switch {
		case test.failure != "":
			if err == nil || !strings.Contains(err.Error(), test.failure) {
				t.Errorf("%q: error %v, want %q", test.in, err, test.failure)
			}
		case err != nil || got != test.want:
			t.Errorf("%q: got %q, %v; want %q", test.in, got, err, test.want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "${OS_A}", "$${OS_A}", "$$${", "${", "${OS_A:=$${}", "a$", "${OS_A:=}}"} {
		f.Add(seed)
	}
	lookup := func(name string) (string, bool) { return "", name == "OS_A" }
	f.Fuzz(func(t *testing.T, text string) {
		out, err := expand(text, lookup)
		if !strings.Contains(text, "${") && (err != nil || out != text) {
			t.Errorf("%q holds no variable, but became %q, %v", text, out, err)
		}
		// Escaped text comes out as it went in.
		if back, err := expand(strings.ReplaceAll(text, "${", "$${"), lookup); err != nil || back != text {
			t.Errorf("escaped %q became %q, %v", text, back, err)
		}
	})
}

func FuzzSubstitute(f *testing.F) {
	f.Add("a: ${OS_A}\nb: [\"${OS_A}\"]\n", "x: y\n- z")
	f.Add("---\n- ${OS_A}\n", "")
	f.Fuzz(func(t *testing.T, document, value string) {
		// Whatever the file and the value are: an error, or YAML with the same keys.
		s := &substituter{filled: map[string]bool{}, lookup: func(string) (string, bool) { return value, true }}
		out, err := s.substitute(origin{}, []byte(document))
		if err != nil || len(s.problems) > 0 {
			return
		}
		again := &substituter{filled: map[string]bool{}, lookup: func(string) (string, bool) { return "", true }}
		if _, err := again.substitute(origin{}, out); err != nil && !strings.Contains(value, "${") &&
			!strings.Contains(document, "$${") {
			t.Errorf("%q with %q became %q: %v", document, value, out, err)
		}
	})
}
