//go:build integration

package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// moduleSource returns the folder of a module's source in the module cache, downloaded and verified when it is not
// there. dir is the folder of the go.mod that requires it.
func moduleSource(ctx context.Context, dir, path string) (string, error) {
	module, err := goModule(ctx, dir, "mod", "download", "-json", path)
	return module.Dir, err
}

// pinned returns the version of a module that the root module requires.
func pinned(ctx context.Context, path string) (string, error) {
	module, err := goModule(ctx, ".", "list", "-m", "-json", path)
	return module.Version, err
}

// labModule returns the folder of one of the build modules, whose go.mod files are the only place of the versions of
// parts.
func labModule(ctx context.Context, name string) (string, error) {
	root, err := goModule(ctx, ".", "list", "-m", "-json")
	return filepath.Join(root.Dir, "e2e", "lab", "modules", name), err
}

// module is what the go command says about one.
type module struct{ Dir, Version string }

// goModule runs a subcommand of the go command that answers with one module as JSON.
func goModule(ctx context.Context, dir string, args ...string) (module, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s%s", err, failed.Stderr, out)
	}
	var found module
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil {
		return module{}, fmt.Errorf("go %v: %w", args, err)
	}
	return found, nil
}
