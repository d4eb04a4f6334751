package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

const contentFlag = "content"

// contentOptions are the flags of commands that read the content of a repository before a cluster does.
type contentOptions struct {
	folder     string
	components componentOptions
}

func (o *contentOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.folder, contentFlag, "", "folder of a repository: use its chart and components instead of this "+
		"binary's")
	o.components.flags(f)
}

// of returns the selected content. It refuses a folder that is incomplete, or whose definitions differ from its
// definitions.json.
func (o *contentOptions) of() (fs.FS, error) {
	if o.folder == "" {
		return clusterinit.Content(), nil
	}
	if o.components.folder != "" {
		return nil, fault.New(fault.Usage, fmt.Sprintf("--%s and --%s do not go together", contentFlag, componentsFlag),
			"Put your components into kustomize-components of the repository.")
	}
	folder := os.DirFS(o.folder)
	for _, part := range []string{"charts/telco-cloud-init/Chart.yaml", "kustomize-components"} {
		if _, err := fs.Stat(folder, part); err != nil {
			return nil, fault.Wrap(fmt.Errorf("--%s: look for %s: %w", contentFlag, path.Join(o.folder, part), err),
				fault.Usage,
				"Name the root of a repository that has charts/telco-cloud-init and kustomize-components, as --source "+
					"git reads them.")
		}
	}
	if err := definitions.Check(folder); err != nil {
		return nil, fmt.Errorf("--%s %s: %w", contentFlag, o.folder, err)
	}
	return repositoryContent{FS: clusterinit.Content(), repository: folder}, nil
}

// checkCheckout refuses a checkout around the environment's folder whose definitions.json does not match its
// definitions: with --source git the cluster reads both. A folder outside of a checkout says nothing about the
// repository.
func checkCheckout(environment string) error {
	folder, err := filepath.Abs(environment)
	if info, statErr := os.Stat(folder); err != nil || statErr != nil || !info.IsDir() {
		return nil // a built-in environment, or reported already
	}
	for ; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(definitions.File))); err == nil {
			if err := definitions.Check(os.DirFS(folder)); err != nil {
				return fmt.Errorf("the checkout %s: %w", folder, err)
			}
			return nil
		}
		if folder == filepath.Dir(folder) {
			return nil
		}
	}
}

// publishOptions returns what up publishes from fsys, for what both clusters apply. A repository needs no profile of a
// bundle: it has these components itself.
func (o *contentOptions) publishOptions(env *environment.Environment, fsys fs.FS, opened *bundle.Bundle) (
	*environment.Environment, content.PublishOptions, error) {
	env, options, err := publishOptions(env, fsys, opened)
	if err != nil {
		return nil, options, err
	}
	if options.Paths, err = env.AppliedPaths(); err != nil {
		return nil, options, err
	}
	if o.folder != "" {
		options.Profile = nil
		return env, options, nil
	}
	options.Profile, err = o.components.with(env, fsys, options.Profile)
	return env, options, err
}

// repositoryContent is this binary's content, with the chart and the components of a repository in place of its own.
type repositoryContent struct {
	fs.FS
	repository fs.FS
}

// Open opens the chart and the components from the repository, and everything else from this binary.
func (c repositoryContent) Open(name string) (fs.File, error) {
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "charts", "kustomize-components":
		return c.repository.Open(name)
	}
	return c.FS.Open(name)
}
