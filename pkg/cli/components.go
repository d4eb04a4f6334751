package cli

import (
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/environment"
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
