package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// onlineBound bounds all requests of one finding.
const onlineBound = 3 * time.Minute

// checkImages checks that registries serve each image of Flux and of the components, with the mirrors and logins of
// nodes. Those of a bundle need no registry. It checks the node image only if the Docker engine would have to pull it.
func (o *checkOptions) checkImages(ctx context.Context, env *environment.Environment, engine *docker.Client,
	supplies bootstrap.Supplies) up.Finding {
	f := up.Finding{Title: "images"}
	ctx, cancel := context.WithTimeout(ctx, onlineBound)
	defer cancel()
	var images, notChecked []string
	var missing []error
	if supplies.Bundle != nil {
		f.Seen = []string{"all images come from the bundle"}
	} else {
		var err error
		images, f.Warnings, err = imagesOf(ctx, env, supplies.Profile)
		f.Problems = fault.Problems(err)
		images = slices.Compact(slices.Sorted(slices.Values(images)))
		keys, err := keysOf(env)
		if err != nil {
			f.Problems = append(f.Problems, err)
		}
		missing, notChecked = oci.ServedAll(ctx, images, mirrorsOf(env), env.Spec().Cluster.TrustedCAs, keys)
	}
	if node := supplies.BootstrapImage(); o.pullsNodeImage(ctx, engine, supplies) {
		if supplies.Bundle != nil {
			f.Seen = []string{"all images but the node image " + node + " come from the bundle"}
		}
		// the engine pulls without the mirrors and credentials of nodes
		lacks, _ := oci.ServedAll(ctx, []string{node}, nil, "", authn.DefaultKeychain)
		images, missing = append(images, node), append(missing, lacks...)
	}
	for _, image := range notChecked {
		f.Warnings = append(f.Warnings, image+": "+oci.ErrNotSupported.Error())
	}
	f.Problems = append(f.Problems, missing...)
	if len(images) > 0 || supplies.Bundle == nil {
		f.Seen = append(f.Seen, fmt.Sprintf("%d of %d images are served", len(images)-len(missing)-len(notChecked),
			len(images)))
	}
	return f
}

// pullsNodeImage reports whether the Docker engine would have to pull the node image of the bootstrap cluster: one of
// --node-image need not be in the bundle. It is true if the engine does not answer.
func (o *checkOptions) pullsNodeImage(ctx context.Context, engine *docker.Client, supplies bootstrap.Supplies) bool {
	bundled := supplies.Bundle != nil && (supplies.NodeImage == "" ||
		slices.Contains(supplies.Bundle.References(bundle.LoadDocker), supplies.NodeImage))
	if o.bootstrapKubeconfig != "" || bundled {
		return false
	}
	there, err := engine.ImageExists(ctx, supplies.BootstrapImage())
	return err != nil || !there
}

// imagesOf returns the known images of Flux and of the components in both clusters. notes and the error name those that
// are not known.
// profile are files of the content besides this binary's.
func imagesOf(ctx context.Context, env *environment.Environment, profile map[string][]byte) (images, notes []string,
	err error) {
	env, options, err := publishOptions(env, clusterinit.Content(), nil)
	if err != nil {
		return nil, nil, err
	}
	options.Profile = profile
	return manifests.KnownImages(ctx, env, options)
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
