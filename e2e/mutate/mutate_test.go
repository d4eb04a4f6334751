package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEachKindOfMutant(t *testing.T) {
	for _, row := range []struct {
		body, what, want string
	}{
		{"if ready { }", "negate the condition", "if (ON != (ready)) { }"},
		{"switch { case ready: }", "negate the condition", "switch { case (ON != (ready)): }"},
		{"x = a == b", "negate a == b", "x = (ON != (a == b))"},
		{"x = a < b", "< becomes <= in a < b", "x = (ON && (a <= b) || !ON && (a < b))"},
		{"x = len(a) > 1", "1 becomes 2 in len(a) > 1", "x = (ON && (len(a) > 2) || !ON && (len(a) > 1))"},
		{"x = len(a) > 1", "1 becomes 0 in len(a) > 1", "x = (ON && (len(a) > 0) || !ON && (len(a) > 1))"},
		{"x = a && b", "&& becomes || in a && b", "x = (ON && (a || b) || !ON && (a && b))"},
		{"x = a && b", "leave out a", "x = (ON || (a)) && b"},
		{"x = a || b", "leave out b", "x = a || (!ON && (b))"},
		{"x = true", "flip true", "x = (ON != (true))"},
		{"x = y", "drop the assignment to x", "if !ON { x = y }"},
		{"a.check(b)", "drop a.check()", "if !ON { a.check(b) }"},
		{"return x, err", "return a nil error", "if ON { return x, nil }; return x, err"},
		{"func() bool { return ready() }()", "negate the result", "func() bool { return (ON != (ready())) }()"},
	} {
		source := "package p\n\nfunc f() (any, error) { " + row.body + " }\n"
		list := mutator{enabled: func(int) bool { return false }}
		same, err := list.instrument("f.go", source)
		if err != nil || same != source {
			t.Errorf("%s: without a mutant: %v\n%s", row.body, err, same)
		}
		only := slices.IndexFunc(list.mutants, func(m mutant) bool { return m.what == row.what })
		if only < 0 {
			t.Errorf("%s: want the mutant %q, have %v", row.body, row.what, list.mutants)
			continue
		}
		m := mutator{enabled: func(id int) bool { return id == only }}
		got, err := m.instrument("f.go", source)
		want := strings.ReplaceAll(row.want, "ON", fmt.Sprintf("mutantOn(\"%d\")", only))
		want = strings.Replace(source, row.body, want, 1)
		if err != nil || got != want {
			t.Errorf("%s: %v\nhave %s\nwant %s", row.body, err, got, want)
		}
	}
}

func TestWhatStaysAsItIs(t *testing.T) {
	for _, source := range []string{
		"package p\n\nconst on = true\n",
		"package p\n\nfunc f() error { panic(1); return nil }\n",
		"package p\n\nfunc f() { defer g(); _ = h() }\n",
	} {
		m := mutator{enabled: func(int) bool { return true }}
		if got, err := m.instrument("f.go", source); err != nil || got != source || len(m.mutants) != 0 {
			t.Errorf("%v, %v\n%s", err, m.mutants, got)
		}
	}
}

// TestRun mutates a package of its own: `allowed` is tested on both sides, `older` on one, `never` not at all. The
// last function has a bool type, whose mutants the compiler refuses.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	sources := map[string]string{
		"go.mod": "module example.test/p\n\ngo 1.24\n",
		"p.go": `package p

type verdict bool

func allowed(owner, me string) bool {
	return owner == me
}

func older(a, b int) bool {
	return a < b
}

func never() error {
	return older2(1)
}

func older2(a int) error { return nil }

func named(v verdict) verdict {
	if v {
		return v
	}
	return !v
}
`,
		"p_test.go": `package p

import "testing"

func TestAll(t *testing.T) {
	if !allowed("a", "a") || allowed("a", "b") || !older(1, 2) || older(2, 1) || !bool(named(true)) {
		t.Fail()
	}
}
`}
	for file, text := range sources {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "-mod=mod")
	var out bytes.Buffer
	r := run{pkg: ".", tester: ".", match: ".", seed: 1, timeout: time.Minute, dir: dir, out: &out}
	if err := r.do(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := `p.go:10: survived: < becomes <= in a < b
p.go:14: not reached: return a nil error
.: 4 mutants, 2 killed, 1 survived, 1 not reached
`
	if out.String() != want {
		t.Errorf("have\n%swant\n%s", out.String(), want)
	}
	for file, text := range sources {
		if now, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(now) != text {
			t.Errorf("%s has changed: %v", file, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != len(sources) {
		t.Errorf("the run left files: %v", left)
	}
}

func TestTheSeedDecidesTheSample(t *testing.T) {
	one, two := run{sample: 5, seed: 1}.choose(100), run{sample: 5, seed: 2}.choose(100)
	if len(one) != 5 || !maps.Equal(one, run{sample: 5, seed: 1}.choose(100)) || maps.Equal(one, two) {
		t.Errorf("%v, %v", one, two)
	}
	if all := (run{sample: 500}).choose(100); len(all) != 100 {
		t.Errorf("have %d of 100", len(all))
	}
}
