package golang

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	goMod = `module x

replace example.org/up => example.org/fork v9.9.9

require (
	example.org/up/api v1.0.0 // indirect
	example.org/up v1.2.3 // indirect
)
`
	goSum = `example.org/up v1.2.2 h1:old=
example.org/up v1.2.3 h1:sum=
example.org/up v1.2.3/go.mod h1:mod=
`
)

func TestPin(t *testing.T) {
	root := t.TempDir()
	module := Module{Name: "m", Path: "example.org/up"}
	if err := os.MkdirAll(module.Dir(root), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"go.mod": goMod, "go.sum": goSum} {
		if err := os.WriteFile(filepath.Join(module.Dir(root), name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pin, err := module.Pin(root)
	if err != nil || pin != (Pin{Version: "v1.2.3", Sum: "h1:sum="}) {
		t.Errorf("got %+v (%v)", pin, err)
	}
	module.Path = "example.org/other"
	if _, err := module.Pin(root); err == nil || !strings.Contains(err.Error(), "example.org/other") {
		t.Errorf("a module that is not required gave %v", err)
	}
}

func TestStampsNameTheVersion(t *testing.T) {
	got := flags(Module{Stamps: []string{"k8s.io/v"}, Release: "+rke2r1"}, Pin{Version: "v1.36.4"})
	last := got[len(got)-1]
	for _, want := range []string{"k8s.io/v.gitVersion=v1.36.4+rke2r1 ", "k8s.io/v.gitMajor=1", "k8s.io/v.gitMinor=36",
		"-buildid="} {
		if !strings.Contains(last, want) {
			t.Errorf("no %s in %s", want, last)
		}
	}
	if !slices.Contains(got, "-mod=readonly") {
		t.Errorf("got %v", got)
	}
}

func TestKeyCoversTheProgramsInFolders(t *testing.T) {
	builder := &Builder{Root: t.TempDir()}
	module := Module{Name: "m"}
	program := filepath.Join(module.Dir(builder.Root), "program", "main.go")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, content := range []string{"package main", "package main // changed"} {
		if err := os.WriteFile(program, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		key, err := builder.key(t.Context(), module, Pin{})
		if err != nil {
			t.Fatal(err)
		}
		keys[key] = true
	}
	if len(keys) != 2 {
		t.Error("the same key for another program")
	}
}
