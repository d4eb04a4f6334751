package offline

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
)

// TestManifestsFile is the name, next to the programs of Binaries, of what TestManifests renders: a list of {URL,
// Content}.
const TestManifestsFile = "manifests.json"

// TestManifests renders the release manifests that the integration tests of pkg install and returns the file that holds
// them: those of Flux and, with managers, of cert-manager, Cluster API and all its providers. The tests get a file, so
// that they need nothing of the lab's code.
func TestManifests(ctx context.Context, options Options, managers bool) (string, error) {
	b := &builder{Options: options, modules: map[string]golang.Built{}}
	all := plan.Modules(nil)
	if managers {
		all = append(all, plan.TestManagers()...)
	}
	for _, module := range all {
		pin, err := module.Pin(b.Root)
		if err != nil {
			return "", err
		}
		b.modules[module.Name] = golang.Built{Module: module, Pin: pin}
	}
	flux, err := golang.Version(filepath.Join(b.Root, "go.mod"), fluxModule)
	if err != nil {
		return "", err
	}
	name := "servers"
	if managers {
		name = "managers"
	}
	dir, err := b.renderedFolder("test-"+name, slices.Sorted(maps.Keys(b.modules)), flux, func() ([]rendered, error) {
		return b.renderTests(ctx, flux, managers)
	})
	return filepath.Join(dir, renderedFile), err
}

// renderTests renders what TestManifests returns.
func (b *builder) renderTests(ctx context.Context, fluxVersion string, managers bool) ([]rendered, error) {
	flux, err := b.flux(ctx, fluxVersion)
	if err != nil || !managers {
		return flux, err
	}
	certificates, err := b.certManager(ctx)
	if err != nil {
		return nil, err
	}
	resources, err := b.orc(ctx)
	if err != nil {
		return nil, err
	}
	providers, err := b.renderProviders(ctx, slices.Concat(coreProviders(), kubeadmProviders(), rke2Providers(),
		dockerProviders(), openstackProviders(), awsProviders()))
	return append(append(providers, certificates, resources), flux...), err
}
