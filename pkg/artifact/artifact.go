// Package artifact publishes cluster-init's content (kustomize components and chart) as OCI artifacts that Flux
// reads, fills the environment's registry and the Docker engine from an offline bundle, and checks that a user's
// own source can be read.
package artifact

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Artifact is something published: where it is and what it is.
type Artifact struct {
	Repository string // host[:port]/path, without a tag
	Tag        string
	Digest     string // sha256:... of the manifest
}

// URL is the repository as Flux's OCIRepository wants it: oci://host/path.
func (a Artifact) URL() string { return "oci://" + a.Repository }

// Ref is repository:tag.
func (a Artifact) Ref() string { return a.Repository + ":" + a.Tag }

// Published is what one Publish put into a registry.
type Published struct {
	Content Artifact // the kustomize components, tagged with the hash of their tree
	Chart   Artifact // the Helm chart, tagged with its version
}

// Target is a place in a registry that artifacts are pushed to.
type Target struct {
	// Prefix is host[:port][/path]; artifacts go to Prefix/cluster-init/...
	Prefix string
	// Insecure allows plain http.
	Insecure bool
	// Options are the transport and such; without any, the user's docker config authenticates.
	Options []remote.Option
}

const (
	contentPath = "cluster-init/content"
	chartsPath  = "cluster-init/charts"
)

// repository is the repository of a path below the target.
func (t Target) repository(path string) (name.Repository, error) {
	var opts []name.Option
	if t.Insecure {
		opts = append(opts, name.Insecure)
	}
	repo, err := name.NewRepository(strings.TrimSuffix(t.Prefix, "/")+"/"+path, opts...)
	if err != nil {
		return name.Repository{}, fmt.Errorf("registry target %q: %w", t.Prefix, err)
	}
	return repo, nil
}

// options are the remote options of the target.
func (t Target) options() []remote.Option {
	if len(t.Options) > 0 {
		return t.Options
	}
	return []remote.Option{remote.WithAuthFromKeychain(authn.DefaultKeychain)}
}
