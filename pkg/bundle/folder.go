package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/oci"
)

// The maximum sizes of files of a bundle that are read into memory, in bytes. Layers are streamed.
const (
	mostOfIndex    = 64 << 20
	mostOfManifest = 64 << 20 // of an image, or of Kubernetes
)

// checkFolder refuses a bundle with anything but files and folders: a link may lead to a user's own file, and a pipe or
// a device has no end.
func checkFolder(dir string) error {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(resolved, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(resolved, path)
		if err == nil && !entry.Type().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", relative)
		}
		return err
	})
}

// checkPaths refuses files outside of the bundle.
func (b *Bundle) checkPaths() error {
	var problems []error
	for _, entry := range b.Index.Manifests {
		if !filepath.IsLocal(filepath.FromSlash(entry.Path)) {
			problems = append(problems, fmt.Errorf("manifest %s leads out of the bundle (file %s)",
				oci.Redacted(entry.URL), entry.Path))
		}
	}
	for _, entry := range b.Index.Profile {
		if !filepath.IsLocal(filepath.FromSlash(entry.Path)) {
			problems = append(problems, fmt.Errorf("file %s of the profile leads out of the bundle", entry.Path))
		}
	}
	return errors.Join(problems...)
}

// checkSize refuses a file that is too large for memory. The reader of a missing file reports it.
func checkSize(path string, most int64) error {
	if info, err := os.Stat(path); err == nil && info.Size() > most {
		return fmt.Errorf("%s has more than %d MiB", path, most>>20)
	}
	return nil
}
