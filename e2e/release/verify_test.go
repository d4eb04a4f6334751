package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestVerifyRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no list of checksums": {nil, "0 lists of checksums"},
		"a file that changed": {map[string]string{"x_checksums.txt": strings.Repeat("0", 64) + "  a\n",
			"a": "changed"}, "checksum of a"},
		"a file that is gone": {map[string]string{"x_checksums.txt": strings.Repeat("0", 64) + "  a\n"},
			"no such file"},
		"a list that is broken": {map[string]string{"x_checksums.txt": "a\n"}, "is not a checksum and a name"},
		"an archive missing":    {map[string]string{"x_checksums.txt": ""}, "0 files cluster-init_*_linux_amd64.tar.gz"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := verify(t.Context(), io.Discard, dir); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestVerifySBOM(t *testing.T) {
	dir := t.TempDir()
	const name = "cluster-init_1_linux_amd64.sbom.json"
	content := `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"name":"example.org/a","version":"v1"}]}`
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{name: "", "machineadm_1_linux_amd64.sbom.json": ""}
	if err := verifySBOM(io.Discard, dir, "cluster-init", "linux_amd64", sums, []string{"example.org/a@v1"}); err != nil {
		t.Error(err)
	}
	if err := verifySBOM(io.Discard, dir, "cluster-init", "linux_amd64", sums,
		[]string{"example.org/a@v1", "example.org/b@v1"}); err == nil {
		t.Error("a module that is in the binary only is not missed")
	}
}

// The linker ignores -X for a variable that does not exist.
func TestLinkerVariablesExist(t *testing.T) {
	config, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`-X github\.com/cluster-init/cluster-init/(\S+)\.(\w+)=`).FindAllStringSubmatch(
		string(config), -1)
	if len(found) != 3 {
		t.Fatalf("%d variables are set, want version, commit and date", len(found))
	}
	for _, match := range found {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", match[1], "version.go"), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		declared := false
		for _, declaration := range file.Decls {
			if block, ok := declaration.(*ast.GenDecl); ok && block.Tok == token.VAR {
				for _, spec := range block.Specs {
					value, _ := spec.(*ast.ValueSpec)
					declared = declared || value.Names[0].Name == match[2] && len(value.Values) == 0
				}
			}
		}
		if !declared {
			t.Errorf("%s has no variable %s that the linker can set", match[1], match[2])
		}
	}
}
