package manifests

import (
	"context"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// KnownImages returns the known images of Flux and of the components of the content that options publish, in both
// clusters. Notes name the components that Flux reads from other sources. The error says which other images are not
// known; the images that are known come with it.
func KnownImages(ctx context.Context, env *environment.Environment, options content.PublishOptions) (
	images, notes []string, err error) {
	urls, err := options.ReleaseFiles(ctx)
	if err != nil {
		return nil, nil, err
	}
	files := fetched{}
	files.got, files.lacks = content.FetchAll(ctx, options.Fetch, append(urls, flux.ManifestsURL))
	images, err = fluxImages(ctx, files)
	problems := []error{err}
	tree, err := content.Components(options.FS, options.Profile)
	if err != nil {
		return nil, nil, err
	}
	lacking := map[string]string{}
	for _, path := range options.Paths {
		if with, err := content.Localize(ctx, tree, []string{path}, files); err == nil {
			tree = with
		} else {
			lacking[path] = "its images are not known"
			problems = append(problems, fmt.Errorf("images of %s are not known: %w", path, err))
		}
	}
	for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
		rendered, err := RenderPartly(ctx, env, phase, nil, tree, lacking)
		if err != nil {
			return images, notes, fault.Join(append(problems, err)...)
		}
		images = append(images, rendered.Images()...)
		for _, c := range rendered.Components {
			if note := "component " + c.Name + ": " + c.Note; c.Note != "" && lacking[c.Path] == "" &&
				!slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return images, notes, fault.Join(problems...)
}

// fetched holds downloaded release files by URL, and the errors of the others.
type fetched struct {
	got   map[string][]byte
	lacks map[string]error
}

// Fetch returns the file or the error of a URL that was fetched.
func (f fetched) Fetch(_ context.Context, url string) ([]byte, error) {
	return f.got[url], f.lacks[url]
}

// fluxImages returns the images of the Flux controllers that up installs.
func fluxImages(ctx context.Context, fetch content.Fetcher) ([]string, error) {
	archive, err := fetch.Fetch(ctx, flux.ManifestsURL)
	if err != nil {
		return nil, fmt.Errorf("fetch Flux's manifests: %w", err)
	}
	objects, err := flux.Render(flux.Options{Archive: archive})
	if err != nil {
		return nil, err
	}
	return Images(objects), nil
}
