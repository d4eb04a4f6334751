// Package kustomize runs kustomize as a library on other people's folders. The library itself clones Git repositories,
// fetches URLs and can run plugins. Here it sees only local files below one root.
package kustomize

import (
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Role is the purpose of a file for kustomize.
type Role int

// The roles of files.
const (
	Kustomization Role = iota // specifies what to build
	Values                    // a file that a generator of ConfigMaps or Secrets reads
	Other                     // a resource, a patch, a configuration
)

// Options specifies what to build. Files, Folder and Root are required.
type Options struct {
	Files  filesys.FileSystem
	Folder string // the absolute path of the kustomization's folder
	// Root is the absolute path of the folder that every entry must be below, after symbolic links.
	Root string
	// Read, if any, returns what kustomize gets of a file. It is called once for each file, with the role in which the
	// file is first named, and once more if that is Values and the file also has another role. It is never called after
	// kustomize has begun.
	Read func(path string, role Role, content []byte) ([]byte, error)
	// Missing, if any, is a further hint for a missing entry.
	Missing string
	// Title, if any, returns the user's name of a path.
	Title func(path string) string
}

// Build returns kustomize's result for a folder. Before it runs, Build checks each entry of each reachable
// kustomization, and reads each file: kustomize reads only those copies. The error contains all refused entries, see
// fault.Join, with the code EnvironmentInvalid, and the errors of Read. Errors of kustomize itself have no code.
func Build(o Options) (built resmap.ResMap, err error) {
	w := &walker{Options: o, copies: map[string][]byte{}, values: map[string]bool{}}
	if w.Title == nil {
		w.Title = func(path string) string { return path }
	}
	w.start()
	if len(w.problems) > 0 {
		return nil, fault.Join(w.problems...)
	}
	defer func() { // the library was not written for untrusted files
		if broken := recover(); broken != nil {
			built, err = nil, fmt.Errorf("kustomize failed on these files: %v", broken)
		}
	}()
	// The default options allow no plugin, no function and no helm.
	return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(closed{o.Files, w.copies}, o.Folder)
}

// closed is a file system in which ReadFile knows only the checked copies of files.
type closed struct {
	filesys.FileSystem
	copies map[string][]byte // by path, after symbolic links
}

// ReadFile returns the checked copy of a file.
func (c closed) ReadFile(path string) ([]byte, error) {
	content, known := c.copies[path]
	if !known {
		return nil, fmt.Errorf("read %s: no kustomization names it", path)
	}
	return slices.Clone(content), nil
}
