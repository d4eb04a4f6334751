package pkg_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
)

// A target that is not phony and has the name of a folder, as e2e has, is always up to date: `make e2e` would pass
// without a test.
func TestTargetsArePhony(t *testing.T) {
	content, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY:(.*)$`).FindStringSubmatch(string(content))
	if phony == nil {
		t.Fatal("the Makefile declares no target as phony")
	}
	targets := regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):[^=]*$`).FindAllStringSubmatch(string(content), -1)
	if len(targets) < 10 {
		t.Fatalf("%d targets", len(targets))
	}
	for _, target := range targets {
		if !slices.Contains(strings.Fields(phony[1]), target[1]) {
			t.Errorf("target %s is not phony", target[1])
		}
	}
}

// TestHelpShowsEveryTarget runs `make help`: a line for each target but those that only others use.
func TestHelpShowsEveryTarget(t *testing.T) {
	prerequisite.Program(t, "make")
	content, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	help, err := exec.Command("make", "-s", "-C", "..", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(help)) {
		if len(strings.TrimSuffix(line, "\n")) > 100 {
			t.Errorf("a line of `make help` has more than 100 columns: %s", line)
		}
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY:(.*)$`).FindStringSubmatch(string(content))
	for _, target := range strings.Fields(phony[1]) {
		shown := regexp.MustCompile(`(?m)^  ` + target + ` +[^ ]`).Match(help)
		if inner := slices.Contains([]string{"forecast", "compiler", "browser", "sshclient"}, target); shown == inner {
			t.Errorf("`make help` shows target %s: %v, want %v", target, shown, !inner)
		}
	}
}

// CI runs the tests of pkg/environment without the race detector, which makes them ten times as slow. That is right
// only as long as it starts no goroutine.
func TestEnvironmentStartsNoGoroutine(t *testing.T) {
	files, err := filepath.Glob("environment/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files of pkg/environment", err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			_, starts := n.(*ast.GoStmt)
			selector, named := n.(*ast.SelectorExpr)
			if starts || named && selector.Sel.Name == "Go" { // of a WaitGroup, or a group of errors
				t.Errorf("%s starts a goroutine: take it back to the tests with the race detector, in the Makefile",
					file)
			}
			return true
		})
	}
}
