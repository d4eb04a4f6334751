package pkg_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A skipped test looks like a passed one in CI. Only package prerequisite, and e2e like it, may skip: they fail where
// CI is set.
func TestNoTestSkipsInCI(t *testing.T) {
	found := 0
	for _, root := range []string{".", "../e2e", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") ||
				strings.Contains(path, "internal/prerequisite/") || path == "../e2e/missing_test.go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			found++
			for _, call := range skips(file) {
				t.Errorf("%s calls %s: use prerequisite.Program or prerequisite.Missing", path, call)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 500 {
		t.Errorf("only %d files were read", found)
	}
}

// skips lists the calls of a test's skip methods in file.
func skips(file *ast.File) (calls []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return true
		}
		selector, isSelector := call.Fun.(*ast.SelectorExpr)
		if !isSelector {
			return true
		}
		receiver, isIdent := selector.X.(*ast.Ident)
		switch selector.Sel.Name {
		case "Skip", "Skipf", "SkipNow":
			if isIdent && len(receiver.Name) <= 2 {
				calls = append(calls, receiver.Name+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return calls
}
