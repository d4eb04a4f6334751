//go:build integration

package flux

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is judged here is judged as the kustomize-controller of the pinned version does by default.
func TestStrictnessIsThatOfThePinnedController(t *testing.T) {
	const controller = "github.com/fluxcd/kustomize-controller"
	// released with the controller
	version := strings.TrimSpace(run(t, "go", "list", "-m", "-f", "{{.Version}}", controller+"/api"))
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(run(t, "go", "mod", "download", "-json", controller+"@"+version)),
		&module); err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(module.Dir, "internal/features/features.go"), nil,
		0)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if entry, ok := n.(*ast.KeyValueExpr); ok {
			key, _ := entry.Key.(*ast.Ident)
			value, _ := entry.Value.(*ast.Ident)
			if key != nil && value != nil && key.Name == "StrictPostBuildSubstitutions" {
				got = value.Name
			}
		}
		return true
	})
	if want := map[bool]string{true: "true", false: "false"}[strictSubstitutions]; got != want {
		t.Errorf("kustomize-controller %s has StrictPostBuildSubstitutions %q by default, and %s is assumed here",
			version, got, want)
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}
