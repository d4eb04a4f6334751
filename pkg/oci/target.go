// Package oci is the adapter to OCI registries: it pushes artifacts and images, explains the errors of servers, and
// knows how containerd finds the mirrors of registries.
package oci

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Artifact is a published artifact: its place and its version.
type Artifact struct {
	Repository string // host[:port]/path, without a tag
	Tag        string
	Digest     string // sha256:... of the manifest
}

// URL is the repository in the form of Flux's OCIRepository: oci://host/path.
func (a Artifact) URL() string { return "oci://" + a.Repository }

// Ref is repository:tag.
func (a Artifact) Ref() string { return a.Repository + ":" + a.Tag }

// Target is a place in a registry for artifacts.
type Target struct {
	// Prefix is host[:port][/path]; artifacts go below it.
	Prefix string
	// Insecure allows plain http.
	Insecure bool
	// Options are the transport and such; without any, the user's docker config authenticates.
	Options []remote.Option
}

// Repository is the repository of a path below the target.
func (t Target) Repository(path string) (name.Repository, error) {
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
