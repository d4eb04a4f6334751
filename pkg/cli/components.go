package cli

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

const componentsFlag = "components"

// componentOptions is the flag for components of the user's own.
type componentOptions struct{ folder string }

func (o *componentOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.folder, componentsFlag, "", "folder with components of your own besides this binary's: its folder "+
		"NAME becomes ./kustomize-components/NAME")
}

// with returns profile with the components of the flag's folder, and with those of the environment's folder.
func (o *componentOptions) with(env *environment.Environment, fsys fs.FS, profile map[string][]byte) (
	map[string][]byte, error) {
	folder, err := env.ComponentsFolder()
	if err != nil {
		return nil, err
	}
	if folder == "" && o.folder == "" {
		return profile, nil
	}
	paths, err := env.ComponentPaths()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{folder, o.folder} {
		if dir == "" {
			continue
		}
		if profile, err = content.Own(fsys, profile, dir, paths); err != nil {
			return nil, err
		}
	}
	return profile, nil
}

// checkElsewhere is for a source that has its components itself. It refuses those in the environment's folder that are
// read from a Git repository instead, and returns a warning of those that a registry has as they were published.
func checkElsewhere(env *environment.Environment, kind source.Kind) (warning string, err error) {
	folder, err := env.ComponentsFolder()
	if err != nil || folder == "" {
		return "", err
	}
	paths, err := env.ComponentPaths()
	if err != nil {
		return "", err
	}
	names := content.OwnFolders(folder, paths)
	switch {
	case len(names) == 0:
		return "", nil
	case kind == source.OCI:
		return fmt.Sprintf("%s (%s) is not read: the registry has it as `cluster-init publish` pushed it", folder,
			strings.Join(names, ", ")), nil
	}
	return "", fault.New(fault.Usage, fmt.Sprintf("%s has the components %s, but --source %s reads them from the "+
		"repository", folder, strings.Join(names, ", "), kind),
		fmt.Sprintf("Move %s to kustomize-components/%s of the repository, and push it.",
			filepath.Join(folder, names[0]), names[0]))
}
