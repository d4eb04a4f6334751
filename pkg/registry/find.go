package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// BinaryName is the file name of a binary for the registry's container that is installed next to cluster-init: for a
// Mac, or for an engine of another architecture. arch is Go's name of it. .goreleaser.yaml puts it into the archive for
// darwin.
func BinaryName(arch string) string { return "cluster-init-linux-" + arch }

// findBinary returns the program itself if it runs on the engine, else the first linux binary of the engine's
// architecture that is installed with it. self is the program's path. It follows symbolic links, as Homebrew makes
// them. An unsuitable file is an error and is not skipped.
func findBinary(self, arch string) (string, error) {
	unfit := checkStatic(self, arch)
	if unfit == nil {
		return self, nil
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	places := besides(self, arch)
	for _, path := range places {
		switch _, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fault.Wrap(fmt.Errorf("find the registry's binary: %w", err), fault.Usage, hintBinary(arch))
		default:
			return path, checkStatic(path, arch)
		}
	}
	err := fmt.Errorf("find the registry's binary for linux/%s: %w; there is neither %s", arch, unfit,
		strings.Join(places, " nor "))
	return "", fault.Wrap(err, fault.Usage, hintBinary(arch))
}

// besides returns the places of an installed binary: lib in the unpacked archive, and lib next to bin, as package
// managers install it.
func besides(self, arch string) []string {
	dir := filepath.Dir(self)
	return []string{filepath.Join(dir, "lib", BinaryName(arch)),
		filepath.Join(filepath.Dir(dir), "lib", BinaryName(arch))}
}

func hintBinary(arch string) string {
	return fmt.Sprintf("Set --registry-binary to the static cluster-init of the same release for linux/%s, or put "+
		"it next to this program as lib/%s.",
		arch, BinaryName(arch))
}
