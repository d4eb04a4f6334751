package content

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kustomize"
)

const (
	// mostOfOwn is the maximum size in bytes of a user's components: manifests are far smaller.
	mostOfOwn = 16 << 20
	// mostOwnEntries is the maximum number of files and folders in one of them.
	mostOwnEntries = 5000
)

// Own returns profile, which may be nil, with the components of the user's folder dir that paths name: its subfolder
// NAME becomes kustomize-components/NAME. Only files that a kustomization names are taken. The folder is untrusted:
// links, remote entries, plugins and large files are refused, and so is a NAME that fsys or profile has. Each refusal
// has the code EnvironmentInvalid.
func Own(fsys fs.FS, profile map[string][]byte, dir string, paths []string) (map[string][]byte, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err == nil {
		_, err = os.ReadDir(root)
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read the components in %s: %w", dir, err), fault.EnvironmentInvalid,
			"Give a folder that has one folder for each component.")
	}
	o := ownReader{dir: dir, root: root, files: map[string][]byte{}}
	var problems []error
	usable := map[string]bool{} // by name of the folder
	for _, inside := range ownPaths(root, paths) {
		name, _, _ := strings.Cut(inside, "/")
		if _, known := usable[name]; !known {
			err := cmp.Or(o.collision(fsys, profile, name), o.walk(name))
			problems, usable[name] = append(problems, err), err == nil
		}
		if usable[name] {
			problems = append(problems, o.build(inside))
		}
	}
	if err := fault.Join(problems...); err != nil {
		return nil, err
	}
	all := maps.Clone(o.files)
	maps.Copy(all, profile)
	return all, nil
}

// OwnFolders returns the subfolders of the user's folder dir that Own would take for paths, by name.
func OwnFolders(dir string, paths []string) []string {
	var names []string
	for _, inside := range ownPaths(dir, paths) {
		name, _, _ := strings.Cut(inside, "/")
		names = append(names, name)
	}
	return slices.Compact(names)
}

// ownPaths returns those paths of components that the folder root has, below kustomize-components. All others are of
// the content, or missing: that is found where all paths are.
func ownPaths(root string, paths []string) []string {
	var found []string
	for _, p := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		inside, ours := strings.CutPrefix(path.Clean(p), componentsDir+"/")
		name, _, _ := strings.Cut(inside, "/")
		if _, err := os.Lstat(filepath.Join(root, name)); ours && !errors.Is(err, fs.ErrNotExist) {
			found = append(found, inside)
		}
	}
	return found
}

// ownReader reads a user's components.
type ownReader struct {
	dir, root string            // as the user names it, and its real path
	files     map[string][]byte // by path in the content
	size      int
}

// collision refuses a folder whose name the content or the profile has.
func (o *ownReader) collision(fsys fs.FS, profile map[string][]byte, name string) error {
	prefix := path.Join(componentsDir, name)
	taken := slices.ContainsFunc(slices.Collect(maps.Keys(profile)), func(p string) bool {
		return strings.HasPrefix(p, prefix+"/")
	})
	if _, err := fs.Stat(fsys, prefix); err != nil && !taken {
		return nil
	}
	return fault.New(fault.EnvironmentInvalid, fmt.Sprintf("%s: there is already a component folder %s",
		filepath.Join(o.dir, name), prefix), "Rename the folder, and components.NAME.path with it.")
}

// walk refuses links and special files, which would not be the same in the cluster.
func (o *ownReader) walk(name string) error {
	entries := 0
	return filepath.WalkDir(filepath.Join(o.root, name), func(p string, d fs.DirEntry, err error) error {
		entries++
		switch title := o.title(p); {
		case err != nil:
			return fault.Wrap(fmt.Errorf("read %s: %w", title, err), fault.EnvironmentInvalid, "Check the permissions.")
		case !d.IsDir() && !d.Type().IsRegular():
			return fault.New(fault.EnvironmentInvalid, title+" is a link or a special file",
				"Put a copy of the file in its place.")
		case entries > mostOwnEntries:
			return fault.New(fault.EnvironmentInvalid, fmt.Sprintf("%s has more than %d files", o.title(
				filepath.Join(o.root, name)), mostOwnEntries), "Keep only the manifests of the component in it.")
		}
		return nil
	})
}

// build checks a kustomization, and takes the files that it names.
func (o *ownReader) build(inside string) error {
	folder := filepath.Join(o.root, filepath.FromSlash(inside))
	_, err := kustomize.Build(kustomize.Options{Files: kustomize.Disk(), Folder: folder, Root: o.root, Title: o.title,
		Read: func(file string, _ kustomize.Role, data []byte) ([]byte, error) {
			relative, err := filepath.Rel(o.root, file)
			if err != nil {
				return nil, err
			}
			name := path.Join(componentsDir, filepath.ToSlash(relative))
			if _, known := o.files[name]; !known {
				o.size += len(data)
			}
			if o.size > mostOfOwn {
				return nil, fault.New(fault.EnvironmentInvalid,
					fmt.Sprintf("the components in %s have more than %d MiB", o.dir, mostOfOwn>>20),
					"Keep only manifests in them.")
			}
			o.files[name] = data
			return data, nil
		}})
	if _, coded := errors.AsType[*fault.Fault](err); err != nil && !coded {
		err = fault.Wrap(fmt.Errorf("build %s: %s", o.title(folder), strings.ReplaceAll(err.Error(), o.root, o.dir)),
			fault.EnvironmentInvalid, "Correct the kustomization: kustomize build "+o.title(folder))
	}
	return err
}

// title is the user's name of a path.
func (o *ownReader) title(p string) string {
	relative, err := filepath.Rel(o.root, p)
	if err != nil {
		return p
	}
	return filepath.Join(o.dir, relative)
}
