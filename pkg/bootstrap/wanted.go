// Package bootstrap makes the temporary cluster, with Flux in it, and the registry beside it: what `up` begins with,
// and `down` too.
package bootstrap

import (
	"fmt"
	"io/fs"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Supplies are what a bootstrap cluster is made from.
type Supplies struct {
	Content       fs.FS             // charts, kustomize-components
	Profile       map[string][]byte // further files of the content, of the bundle
	Source        source.Source     // where Flux reads the content from
	Bundle        *bundle.Bundle    // nil: everything comes from its registry
	Manifests     Manifests         // what remote manifests are read from: the bundle, or else their URLs
	Mirrors       []oci.Mirror      // of the bundle and of the user
	RequirePinned bool              // refuse release files whose content no digest vouches for
	NodeImage     string            // of the bootstrap cluster; empty: the bundle's, or kind.DefaultNodeImage
	APIServerPort int32             // on this machine; 0: a free one
	Binary        string            // static linux executable of cluster-init for the registry; empty: the running one
}

// BootstrapImage is the node image of the bootstrap cluster.
func (s Supplies) BootstrapImage() string {
	switch {
	case s.NodeImage != "":
		return s.NodeImage
	case s.Bundle != nil:
		return s.Bundle.Index.NodeImage
	}
	return kind.DefaultNodeImage
}

// Publishes says what the registry beside the clusters serves, for people.
func (s Supplies) Publishes() string {
	text := "run a registry beside the clusters"
	if s.Bundle != nil {
		text += fmt.Sprintf(", with %d images of the bundle", len(s.Bundle.References(bundle.LoadRegistry)))
	}
	if s.Source.Kind == source.Embedded {
		text += ", and publish chart and components in it"
	}
	return text
}

// Manifests are the release files that components and Flux are installed from.
type Manifests interface {
	content.Fetcher
	// Unpinned returns those of urls whose content no digest vouches for.
	Unpinned(urls []string) []string
}

// Wanted is the bootstrap cluster of an environment, and what makes it.
type Wanted struct {
	Supplies
	Environment *environment.Environment
	StateFolder string
	Existing    string // path: the kubeconfig of a cluster that is used instead of one of kind
	Engine      *docker.Client
	Kind        *kind.Provider
}

func (w Wanted) name() string { return owned.BootstrapCluster(w.Environment.ClusterName()) }
