package golang

import (
	"slices"
	"strings"
	"testing"
)

func TestWorkspaceJoinsTheRepositoryAndItsModules(t *testing.T) {
	space := Workspace{Packages: []string{"./cmd/x"}, Modules: []Module{
		{Name: "own", Binaries: []Binary{{Package: "./program", Name: "program"}}},
		{Name: "other", Binaries: []Binary{{Package: "example.org/other/cmd", Name: "other"}}},
	}}
	want := "go 1.26.8\nuse \"/a b\"\nuse \"/a b/e2e/lab/modules/own\"\nuse \"/a b/e2e/lab/modules/other\"\n"
	if got := space.text("/a b", "go1.26.8"); got != want {
		t.Errorf("go.work is\n%s", got)
	}
	packages := []string{"./cmd/x", "/src/e2e/lab/modules/own/program", "example.org/other/cmd"}
	if got := space.packages("/src"); !slices.Equal(got, packages) {
		t.Errorf("got %v", got)
	}
}

func TestWorkspaceSaysWhatFailed(t *testing.T) {
	err := Workspace{Root: t.TempDir()}.Compile(t.Context())
	if err == nil || !strings.Contains(err.Error(), "compile: go list") {
		t.Errorf("got %v", err)
	}
}
