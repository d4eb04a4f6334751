// Package up builds a self-managed management cluster: the phases of `cluster-init up`, one file each.
package up

import (
	"io/fs"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Options is what a run of `up` is asked for.
type Options struct {
	Environment         *environment.Environment
	Content             fs.FS             // charts, kustomize-components
	Profile             map[string][]byte // further files of the content, of the bundle
	Source              source.Source     // where Flux reads the content from
	Bundle              *bundle.Bundle
	Manifests           Manifests    // what remote manifests are read from: the bundle, or else their URLs
	Mirrors             []oci.Mirror // of the bundle and of the user
	BootstrapKubeconfig string       // path; an existing cluster instead of kind
	NodeImage           string       // of the bootstrap cluster; empty: the bundle's, or kind.DefaultNodeImage
	APIServerPort       int32
	EngineAddress       string // where ports that the Docker engine publishes are reached; empty: the host of DOCKER_HOST
	KeepBootstrap       bool
	AllowChanges        []string // keys of changes that may take something away from the cluster
	KubeconfigPath      string   // where the management cluster's kubeconfig goes
	StateFolder         string   // backups go there, and a copy of the kubeconfig
	Binary              string   // static linux executable of cluster-init for the registry; empty: the running one
	Timeout             time.Duration
	Heartbeat           time.Duration
}

// Manifests are the release files that components and Flux are installed from.
type Manifests interface {
	content.Fetcher
	// Unpinned returns those of urls whose content no digest vouches for.
	Unpinned(urls []string) []string
}

// Run is one run of `up`. Its phases share the connections that they find or make.
type Run struct {
	Options
	Docker *docker.Client
	Kind   *kind.Provider
	Now    func() time.Time
	// Provider makes the machines.
	Provider provider.Provider
	// Leases keep runs on other machines from working on the same clusters. Whoever made them gives them back.
	Leases *lease.Set

	found session
}

// Phases returns what `up` does, in order.
func (u *Run) Phases() []pipeline.Phase {
	return []pipeline.Phase{
		u.preflight(),
		u.look(),
		u.images(),
		u.registry(),
		u.bootstrapCluster(),
		u.bootstrapFlux(),
		u.managementCluster(),
		u.managementFlux(),
		u.managementRelease(),
		u.managementAvailable(),
		u.pivot(),
		u.definition(),
		u.selfManagement(),
		u.bootstrapRemoval(),
	}
}

// BootstrapName is the name of the kind cluster.
func (u *Run) BootstrapName() string { return owned.BootstrapCluster(u.Environment.ClusterName()) }

// RegistryName is the name of the registry's container.
func (u *Run) RegistryName() string { return owned.Registry(u.Environment.ClusterName()) }

// done is the answer of a Check that found nothing to do.
func (u *Run) done(message string) (pipeline.Status, error) {
	return pipeline.Status{State: pipeline.Done, Message: message}, nil
}
