package environment

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kustomize"
)

// embeddedRoot is where the content is mounted for kustomize. It must not be in any user's folder.
const embeddedRoot = "/.cluster-init-content/"

const environmentsFolder = "environment-values"

// overlay is the file system of kustomize. It reads a folder next to the user's own one, such as ../base, from the
// content if the disk has none of that name. The content fills no gaps in a folder that exists.
type overlay struct {
	filesys.FileSystem // the disk, or the content in memory
	fallback           filesys.FileSystem
	folder, given      string // the user's own folder: its path, and the user's name for it
	// root contains the environment's folder and those next to it: environments use ../base, and nothing above.
	root string
}

func (o overlay) pick(name string) filesys.FileSystem {
	if o.fallback == nil {
		return o.FileSystem
	}
	relative, err := filepath.Rel(o.root, name)
	next, _, _ := strings.Cut(relative, string(filepath.Separator))
	if err != nil || next == ".." {
		return o.FileSystem
	}
	// Lstat also finds a broken link, and another error than ErrNotExist does not mean that the folder is missing.
	if _, err := os.Lstat(filepath.Join(o.root, next)); !errors.Is(err, fs.ErrNotExist) {
		return o.FileSystem
	}
	return o.fallback
}

// ReadFile reads a file from its place.
func (o overlay) ReadFile(name string) ([]byte, error) { return o.pick(name).ReadFile(name) }

// read returns what kustomize gets of each file. It fills in variables only in YAML files of values and secrets:
// elsewhere a variable could name the files to read.
func (o overlay) read(s *substituter) func(string, kustomize.Role, []byte) ([]byte, error) {
	return func(name string, role kustomize.Role, content []byte) ([]byte, error) {
		file := o.origin(name)
		if role == kustomize.Values && isYAML(name) {
			return s.process(file, content)
		}
		if role == kustomize.Other {
			s.layers = append(s.layers, layerOf(file, content))
		}
		return content, s.refuseVariables(file, content)
	}
}

// title is the user's name of a path.
func (o overlay) title(name string) string {
	if name == o.folder {
		return o.given
	}
	return o.origin(name).String()
}

// origin is a file as the user finds it.
func (o overlay) origin(name string) origin {
	if inside, embedded := strings.CutPrefix(name, embeddedRoot); embedded {
		return origin{path: inside, builtIn: true}
	}
	relative, err := filepath.Rel(o.folder, name)
	if err != nil {
		return origin{path: name}
	}
	if o.fallback != nil && o.pick(name) == o.fallback { // read as if the content were next to the folder
		return origin{path: path.Join(environmentsFolder, path.Base(o.folder), filepath.ToSlash(relative)),
			builtIn: true}
	}
	if strings.HasPrefix(relative, "..") {
		return origin{path: filepath.Join(o.given, relative)}
	}
	return origin{path: strings.TrimSuffix(o.given, string(filepath.Separator)) + string(filepath.Separator) + relative}
}

// Exists reports whether a file or folder is in either place.
func (o overlay) Exists(name string) bool { return o.pick(name).Exists(name) }

// IsDir reports whether name is a folder in its place.
func (o overlay) IsDir(name string) bool { return o.pick(name).IsDir(name) }

// ReadDir lists the folder in its place.
func (o overlay) ReadDir(name string) ([]string, error) { return o.pick(name).ReadDir(name) }

// Glob lists the matches in the place of the pattern's folder.
func (o overlay) Glob(pattern string) ([]string, error) { return o.pick(pattern).Glob(pattern) }

// Walk walks a folder in its place.
func (o overlay) Walk(name string, walk filepath.WalkFunc) error {
	return o.pick(name).Walk(name, walk)
}

// CleanedAbs resolves a path in its place.
func (o overlay) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	return o.pick(name).CleanedAbs(name)
}

// mount copies the environments of the content to folder dir of a file system in memory.
func mount(content fs.FS, dir string) (filesys.FileSystem, error) {
	memory := filesys.MakeFsInMemory()
	err := fs.WalkDir(content, environmentsFolder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(content, name)
		if err != nil {
			return err
		}
		return memory.WriteFile(path.Join(dir, strings.TrimPrefix(name, environmentsFolder)), data)
	})
	return memory, fault.Wrap(err, fault.EnvironmentInvalid, "Build cluster-init again: its content is incomplete.")
}
