// Package manifest renders what upstream projects publish with a release from the source of their modules, in the way
// their release scripts do.
package manifest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Manifest is one file of an upstream release.
type Manifest struct {
	URL     string // where others fetch it
	Content []byte
}

// build runs kustomize on a folder of a module that the checksum database vouches for. Such folders name others outside
// of their root, which pkg/kustomize refuses.
func build(dir string) ([]byte, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", dir, err)
	}
	return resources.AsYaml()
}

// withCopy calls use with a writable copy of a folder: the module cache is read-only, and release scripts edit files.
func withCopy(source string, use func(dir string) error) error {
	dir, err := os.MkdirTemp("", "cluster-init-lab-")
	if err != nil {
		return fmt.Errorf("copy %s: %w", source, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	err = filepath.WalkDir(source, func(file string, item fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		if item.IsDir() {
			return os.MkdirAll(filepath.Join(dir, name), 0o755)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), content, 0o644)
	})
	if err != nil {
		return fmt.Errorf("copy %s: %w", source, err)
	}
	return use(dir)
}

// replace edits a file; the pattern must match, or the release script has changed.
func replace(file string, pattern *regexp.Regexp, text string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !pattern.Match(content) {
		return fmt.Errorf("%s has changed: nothing in it matches %s", file, pattern)
	}
	return os.WriteFile(file, pattern.ReplaceAllLiteral(content, []byte(text)), 0o644)
}
