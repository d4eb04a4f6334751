package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/manifest"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// rendered is a manifest and the module that it was rendered from. It is stored as JSON.
type rendered struct {
	manifest.Manifest
	Module, Version string
}

const (
	// manifestRecipe is part of the key of all manifests: raise it when the way they are rendered changes.
	manifestRecipe = "2"
	// renderedFile holds all manifests in their folder of the store.
	renderedFile = "manifests.json"
	// fluxModule is the module of Flux's command line, which names the controllers' versions.
	fluxModule = "github.com/fluxcd/flux2/v2"
)

// manifests returns the remote manifests that the environments' components name.
func (b *builder) manifests(ctx context.Context) ([]rendered, error) {
	flux, err := golang.Version(filepath.Join(b.Root, "go.mod"), fluxModule)
	if err != nil {
		return nil, err
	}
	all, err := b.renderOnce("core", append([]string{"cluster-api", "cert-manager"}, plan.FluxControllers()...), flux,
		func() ([]rendered, error) { return b.renderCore(ctx, flux) })
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		uses    string
		modules []string
		render  func() ([]rendered, error)
	}{
		{plan.Kubeadm, []string{"cluster-api"},
			func() ([]rendered, error) { return b.renderProviders(ctx, kubeadmProviders()) }},
		{plan.RKE2, []string{plan.RKE2Module},
			func() ([]rendered, error) { return b.renderProviders(ctx, rke2Providers()) }},
		{plan.Docker, []string{"cluster-api-docker"},
			func() ([]rendered, error) { return b.renderProviders(ctx, dockerProviders()) }},
		{plan.OpenStack, []string{plan.CAPOModule, plan.ORCModule},
			func() ([]rendered, error) { return b.renderOpenStack(ctx) }},
	} {
		if !plan.Uses(b.Environments, part.uses) {
			continue
		}
		more, err := b.renderOnce(part.uses, part.modules, "", part.render)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// renderedFolder returns the folder of the store with what render returns, in which it is rendered unless it was before
// from the same modules and for the same key.
func (b *builder) renderedFolder(name string, modules []string, key string, render func() ([]rendered, error)) (
	string, error) {
	keys := []string{manifestRecipe, key}
	for _, module := range modules {
		keys = append(keys, b.modules[module].Pin.Version, b.modules[module].Pin.Sum)
	}
	return b.Store.Get("manifest", name, store.Key(keys...), func(dir string) error {
		return b.Say.Step("render the manifests", func() error {
			all, err := render()
			if err != nil {
				return err
			}
			content, err := json.Marshal(all)
			if err != nil {
				return fmt.Errorf("encode the manifests: %w", err)
			}
			return os.WriteFile(filepath.Join(dir, renderedFile), content, 0o644)
		})
	})
}

// renderOnce returns what render returns, from the store when it was rendered before.
func (b *builder) renderOnce(name string, modules []string, key string, render func() ([]rendered, error)) ([]rendered,
	error) {
	dir, err := b.renderedFolder(name, modules, key, render)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(filepath.Join(dir, renderedFile))
	if err != nil {
		return nil, fmt.Errorf("read the rendered manifests: %w", err)
	}
	var all []rendered
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("read the rendered manifests: %w", err)
	}
	return all, nil
}

// renderCore renders what all environments have.
func (b *builder) renderCore(ctx context.Context, fluxVersion string) ([]rendered, error) {
	all, err := b.renderProviders(ctx, coreProviders())
	if err != nil {
		return nil, err
	}
	certificates, err := b.certManager(ctx)
	if err != nil {
		return nil, err
	}
	flux, err := b.flux(ctx, fluxVersion)
	return append(append(all, certificates), flux...), err
}

// renderOpenStack renders the infrastructure provider for OpenStack and what it needs.
func (b *builder) renderOpenStack(ctx context.Context) ([]rendered, error) {
	all, err := b.renderProviders(ctx, openstackProviders())
	if err != nil {
		return nil, err
	}
	orc, err := b.orc(ctx)
	return append(all, orc), err
}

// certManager renders cert-manager's release.
func (b *builder) certManager(ctx context.Context) (rendered, error) {
	built := b.modules["cert-manager"]
	source, err := golang.Source(ctx, b.moduleDir("cert-manager"), built.Module.Path)
	if err != nil {
		return rendered{}, err
	}
	version := built.Pin.Version
	url := "https://github.com/cert-manager/cert-manager/releases/download/" + version + "/cert-manager.yaml"
	made, err := manifest.CertManager(filepath.Join(source, "deploy"), version, url)
	return rendered{made, built.Module.Path, version}, err
}

// flux renders the archive that Flux's installation fetches, and what the component flux does. Their version is that of
// the library in the root module.
func (b *builder) flux(ctx context.Context, version string) ([]rendered, error) {
	source, err := golang.Source(ctx, b.Root, fluxModule)
	if err != nil {
		return nil, err
	}
	var controllers []manifest.Controller
	for _, name := range plan.FluxControllers() {
		dir, err := golang.Source(ctx, b.moduleDir(name), b.modules[name].Module.Path)
		if err != nil {
			return nil, err
		}
		controllers = append(controllers, manifest.Controller{Name: name, Version: b.modules[name].Pin.Version,
			Dir: dir})
	}
	release := "https://github.com/fluxcd/flux2/releases/download/" + version
	archive, install, err := manifest.Flux(filepath.Join(source, "manifests"), controllers, release)
	return []rendered{{archive, fluxModule, version}, {install, fluxModule, version}}, err
}
