package golang

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

// Workspace is the repository and build modules that have one version of each dependency, joined for one call of the
// toolchain: it compiles what they share once, and both cores have work until the end. Two calls that start at once
// would compile the same packages twice.
type Workspace struct {
	Root     string // folder of the repository
	Modules  []Module
	Packages []string // of the repository, such as ./cmd/cluster-init
}

// Fetch downloads all modules that the workspace needs.
func (w Workspace) Fetch(ctx context.Context) error {
	if err := w.list(ctx); err != nil {
		return fmt.Errorf("download modules: %w", err)
	}
	return nil
}

// Compile compiles all packages, down to the main ones, into the build cache. It links nothing.
func (w Workspace) Compile(ctx context.Context) error {
	if err := w.list(ctx, "-export"); err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	return nil
}

// list calls `go list` for all packages and what they import.
func (w Workspace) list(ctx context.Context, args ...string) error {
	toolchain, err := version(ctx)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(w.Root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cluster-init-lab-")
	if err != nil {
		return fmt.Errorf("create a folder for go.work: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "go.work")
	if err := os.WriteFile(file, []byte(w.text(root, toolchain)), 0o644); err != nil {
		return fmt.Errorf("write go.work: %w", err)
	}
	args = append([]string{"list", "-deps", "-f="}, append(args, commonFlags()...)...)
	_, err = host.Run(ctx, host.Command{
		Name: "go", Args: append(args, w.packages(root)...), Dir: root, Env: append(environment(), "GOWORK="+file),
	})
	return err
}

// text is the content of go.work.
func (w Workspace) text(root, toolchain string) string {
	lines := []string{"go " + strings.TrimPrefix(toolchain, "go"), "use " + strconv.Quote(root)}
	for _, module := range w.Modules {
		lines = append(lines, "use "+strconv.Quote(module.Dir(root)))
	}
	return strings.Join(lines, "\n") + "\n"
}

// packages are the main packages of the modules, and those of the repository first, as the next step waits for them.
func (w Workspace) packages(root string) []string {
	packages := append([]string(nil), w.Packages...)
	for _, module := range w.Modules {
		for _, binary := range module.Binaries {
			name := binary.Package
			if strings.HasPrefix(name, ".") {
				name = filepath.Join(module.Dir(root), name)
			}
			packages = append(packages, name)
		}
	}
	return packages
}

// environment makes static binaries for this machine, whatever the caller's is set to. With a larger heap the compiler
// needs a fifth less time on a cold machine.
func environment() []string {
	return []string{"GOGC=400", "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux", "GOARCH=" + runtime.GOARCH}
}

// version returns the toolchain's version, such as go1.26.8.
func version(ctx context.Context) (string, error) {
	out, err := host.Run(ctx, host.Command{Name: "go", Args: []string{"env", "GOVERSION"}})
	return strings.TrimSpace(out), err
}
