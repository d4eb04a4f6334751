package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"golang.org/x/sync/errgroup"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/source/content"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// The time limits for one request to a registry and for all.
const (
	imageBound   = 20 * time.Second
	onlineBound  = 3 * time.Minute
	imagesAtOnce = 6
)

// checkImages checks that registries serve each image of Flux and of the components, in the way of a node, and the node
// image in the way of the Docker engine.
func (o *checkOptions) checkImages(ctx context.Context, env *environment.Environment, engine *docker.Client,
	nodeImage string) up.Finding {
	f := up.Finding{Title: "images"}
	if o.bundle != "" {
		f.Seen = []string{"all images come from the bundle"}
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, onlineBound)
	defer cancel()
	images, notes, err := imagesOf(ctx, env)
	lacks := fault.Problems(err)
	f.Warnings = notes
	images = slices.Compact(slices.Sorted(slices.Values(images)))
	keys, err := keysOf(env)
	if err != nil {
		lacks = append(lacks, err)
	}
	missing, notChecked := served(ctx, images, mirrorsOf(env), env.Spec().Cluster.TrustedCAs, keys)
	// the engine pulls missing images itself, without the mirrors and credentials of nodes
	if _, err := engine.Image(ctx, nodeImage); o.bootstrapKubeconfig == "" && err != nil {
		lacks, _ := served(ctx, []string{nodeImage}, nil, "", authn.DefaultKeychain)
		images, missing = append(images, nodeImage), append(missing, lacks...)
	}
	for _, image := range notChecked {
		f.Warnings = append(f.Warnings, image+": "+oci.ErrNotSupported.Error())
	}
	f.Problems = slices.Concat(lacks, missing)
	f.Seen = []string{fmt.Sprintf("%d of %d images are served", len(images)-len(missing)-len(notChecked), len(images))}
	return f
}

// imagesOf returns the known images of Flux and of the components in both clusters, and notes on components with
// unknown images. The error joins the reasons.
func imagesOf(ctx context.Context, env *environment.Environment) (images, notes []string, err error) {
	env, options, err := publishOptions(env, clusterinit.Content(), nil)
	if err != nil {
		return nil, nil, err
	}
	return knownImages(ctx, env, options)
}

// knownImages returns the images of the content that options publish.
func knownImages(ctx context.Context, env *environment.Environment, options content.PublishOptions) (
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
		rendered, err := manifests.RenderPartly(ctx, env, phase, nil, tree, lacking)
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

// Fetch returns one of them.
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
	return manifests.Images(objects), nil
}

// served checks images in parallel with oci.Served. missing are the errors of images that are not served, notChecked
// are images that cannot be checked.
func served(
	ctx context.Context, images []string, mirrors []oci.Mirror, ca string, keys authn.Keychain,
) (missing []error, notChecked []string) {
	errs := make([]error, len(images))
	var requests errgroup.Group // none of them fails
	requests.SetLimit(imagesAtOnce)
	for i, image := range images {
		requests.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, imageBound)
			defer cancel()
			errs[i] = oci.Served(ctx, image, mirrors, ca, keys)
			return nil
		})
	}
	_ = requests.Wait()
	for i, err := range errs {
		switch {
		case errors.Is(err, oci.ErrNotSupported):
			notChecked = append(notChecked, images[i])
		case err != nil:
			missing = append(missing, err)
		}
	}
	return missing, notChecked
}

// mirrorsOf returns the mirrors that the machines use.
func mirrorsOf(env *environment.Environment) []oci.Mirror {
	var mirrors []oci.Mirror
	for _, m := range env.Spec().Cluster.RegistryMirrors {
		mirrors = append(mirrors, oci.Mirror{
			Host: m.Host, URL: m.URL, OverridePath: m.OverridePath, SkipVerify: m.SkipVerify, CA: m.CA, Only: m.Only,
		})
	}
	return mirrors
}

// registryKeys are logins for registries, by host.
type registryKeys map[string]authn.AuthConfig

// keysOf returns the logins of the clusters, followed by those of the user's Docker configuration.
func keysOf(env *environment.Environment) (authn.Keychain, error) {
	text, err := env.DockerConfig()
	var config struct {
		Auths registryKeys `json:"auths"`
	}
	if err == nil && text != nil {
		err = json.Unmarshal(text, &config)
	}
	return authn.NewMultiKeychain(config.Auths, authn.DefaultKeychain), err
}

// Resolve returns the credentials of a host.
func (k registryKeys) Resolve(of authn.Resource) (authn.Authenticator, error) {
	host := of.RegistryStr()
	if host == name.DefaultRegistry {
		host = "docker.io" // as people and containerd write it
	}
	login, known := k[host]
	if !known {
		return authn.Anonymous, nil
	}
	return authn.FromConfig(login), nil
}
