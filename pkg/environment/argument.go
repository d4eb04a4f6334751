package environment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Argument is how a command names the environment, quoted for a shell: its name, or the path that this run was given.
func (e *Environment) Argument() string { return oneline.Shell(cmp.Or(e.argument, e.name)) }

// ComponentsFolder returns the folder of the user's own components in the environment's folder. Empty means that there
// is none, or that the environment is built in.
func (e *Environment) ComponentsFolder() (string, error) {
	if !isPath(e.argument) {
		return "", nil
	}
	folder := filepath.Join(e.argument, "components")
	info, err := os.Lstat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fault.Wrap(fmt.Errorf("look for %s: %w", folder, err), fault.EnvironmentInvalid,
			"Check the permissions.")
	case info.Mode()&fs.ModeSymlink != 0: // it may lead anywhere
		return "", fault.New(fault.EnvironmentInvalid, folder+" is a link",
			"Put a copy of the folder in its place, or name its target with --components.")
	case !info.IsDir():
		return "", nil
	}
	return folder, nil
}
