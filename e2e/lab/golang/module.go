// Package golang builds static binaries from the build modules of e2e/lab/modules.
package golang

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Binary is one program of a module.
type Binary struct {
	Package string // import path of its main package
	Name    string // file name of the program
}

// Module is one build module: a folder with a go.mod that requires the upstream module and a go.sum that pins all.
type Module struct {
	Name     string   // folder below e2e/lab/modules
	Path     string   // upstream module; empty when the folder holds the source itself
	Binaries []Binary // what to build
	Stamps   []string // packages with the variables gitVersion, gitMajor, ... of k8s.io/component-base/version
	Release  string   // what a distribution adds to the version in Stamps, such as +rke2r1
	Apart    string   // why its dependencies have versions of their own; empty: they have those of all others
}

// Pin is what go.mod and go.sum say about an upstream module.
type Pin struct {
	Version string // such as v1.36.4
	Sum     string // such as h1:...
}

// Dir returns the folder of the module below the root of the repository.
func (m Module) Dir(root string) string {
	return filepath.Join(root, "e2e", "lab", "modules", m.Name)
}

// Pin reads the version and checksum of the upstream module. A module without upstream has an empty pin.
func (m Module) Pin(root string) (Pin, error) {
	if m.Path == "" {
		return Pin{}, nil
	}
	version, err := field(filepath.Join(m.Dir(root), "go.mod"), m.Path, "")
	if err != nil {
		return Pin{}, err
	}
	sum, err := field(filepath.Join(m.Dir(root), "go.sum"), m.Path, version)
	if err != nil {
		return Pin{}, err
	}
	return Pin{Version: version, Sum: sum}, nil
}

// field returns the word that follows the module path, and the version when given, on a line of go.mod or go.sum.
func field(file, path, version string) (string, error) {
	content, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read a build module: %w", err)
	}
	defer func() { _ = content.Close() }()
	scanner := bufio.NewScanner(content)
	for scanner.Scan() {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(scanner.Text()), "require "))
		if len(words) < 2 || words[0] != path || words[1] == "=>" {
			continue
		}
		if version == "" {
			return words[1], nil
		}
		if words[1] == version && len(words) == 3 {
			return words[2], nil
		}
	}
	if err := scanner.Err(); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	return "", fmt.Errorf("%s does not name %s %s", file, path, version)
}

// Version returns the version of a module that a go.mod requires.
func Version(file, path string) (string, error) { return field(file, path, "") }
