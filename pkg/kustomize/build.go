// Package kustomize runs kustomize as a library on folders of other people. The library itself clones Git repositories,
// gets URLs and can run plugins; here it sees local files below one root, and nothing else.
package kustomize

import (
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Role says what kustomize takes a file for.
type Role int

// The roles of files.
const (
	Kustomization Role = iota // one that says what to build
	Values                    // a file that a generator of ConfigMaps or Secrets reads
	Other                     // a resource, a patch, a configuration
)

// Options says what to build. Files, Folder and Root are required.
type Options struct {
	Files  filesys.FileSystem
	Folder string // the absolute path of the kustomization's folder
	// Root is the absolute path of the folder that every entry must be below, after symbolic links.
	Root string
	// Read, if any, returns what kustomize gets of a file. It is called once for each file, and never after kustomize
	// has begun.
	Read func(path string, role Role, content []byte) ([]byte, error)
	// Missing, if any, is a further hint for an entry that is not there.
	Missing string
	// Title, if any, returns how the user knows a path.
	Title func(path string) string
}

// Build returns what kustomize makes of a folder. Before it runs, each entry of each kustomization in reach is checked,
// and each file is read: kustomize reads those copies and nothing else. All entries that are refused are in the error,
// see fault.Join; its code is EnvironmentInvalid then. Other errors are kustomize's own, without a code.
func Build(o Options) (built resmap.ResMap, err error) {
	w := &walker{Options: o, copies: map[string][]byte{}}
	if w.Title == nil {
		w.Title = func(path string) string { return path }
	}
	w.start()
	if len(w.problems) > 0 {
		return nil, fault.Join(w.problems...)
	}
	defer func() { // the library was not written for the files of strangers
		if broken := recover(); broken != nil {
			built, err = nil, fmt.Errorf("kustomize failed on these files: %v", broken)
		}
	}()
	// The default options allow no plugin, no function and no helm.
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(closed{o.Files, w.copies}, o.Folder)
}

// closed is a file system whose files have the content that was checked, and that has no other files.
type closed struct {
	filesys.FileSystem
	copies map[string][]byte // by path, after symbolic links
}

// ReadFile returns the copy of a file that was checked.
func (c closed) ReadFile(path string) ([]byte, error) {
	content, known := c.copies[path]
	if !known {
		return nil, fmt.Errorf("read %s: no kustomization names it", path)
	}
	return slices.Clone(content), nil
}
