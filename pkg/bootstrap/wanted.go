// Package bootstrap creates the temporary bootstrap cluster with Flux in it, and the registry next to it. Both `up` and
// `down` begin with it.
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

// Supplies are the inputs of a bootstrap cluster.
type Supplies struct {
	Content       fs.FS             // charts, kustomize-components
	Profile       map[string][]byte // further files of the source content, from the bundle and of the user
	Source        source.Source     // where Flux reads the content from
	Bundle        *bundle.Bundle    // nil: images come from their registries
	Manifests     Manifests         // of remote manifests: the bundle, or their URLs
	Mirrors       []oci.Mirror      // of the bundle and of the user
	Programs      content.Programs  // that machines find in the registry next to the clusters
	RequirePinned bool              // refuse release files without a pinned digest
	NodeImage     string            // of the bootstrap cluster; empty: the bundle's, or kind.DefaultNodeImage
	APIServerPort int32             // on this machine; 0: a free one
	Binary        string            // static linux executable of cluster-init for the registry; empty: this program
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

// Publishes describes what the registry next to the clusters serves, for people.
func (s Supplies) Publishes() string {
	text := "run a registry container next to the clusters"
	if s.Bundle != nil {
		text += fmt.Sprintf(", with %d images of the bundle", len(s.Bundle.References(bundle.LoadRegistry)))
	}
	if s.Source.Kind == source.Embedded {
		text += ", and publish chart and components in it"
	}
	if len(s.Programs.Files) > 0 {
		text += ", with the files that machines install"
	}
	return text
}

// Manifests are the release files that components and Flux are installed from.
type Manifests interface {
	content.Fetcher
	// Unpinned returns those of urls that no digest pins.
	Unpinned(urls []string) []string
}

// Wanted is the desired bootstrap cluster of an environment, with its inputs.
type Wanted struct {
	Supplies
	Environment *environment.Environment
	StateFolder string
	Existing    string // path of the kubeconfig of a cluster to use instead of a kind cluster; empty: none
	Engine      *docker.Client
	Kind        *kind.Provider
}

func (w Wanted) name() string { return owned.BootstrapCluster(w.Environment.ClusterName()) }
