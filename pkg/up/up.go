// Package up builds a self-managed management cluster: the phases of `cluster-init up`, one file each.
package up

import (
	"context"
	"io/fs"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/owned"
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
	AllowChanges        []string          // keys of changes that may take something away from the cluster
	KubeconfigPath      string            // where the management cluster's kubeconfig goes
	StateFolder         string            // backups go there, and a copy of the kubeconfig
	BackupRecipients    backup.Recipients // who can open them; none: they are not encrypted
	Version             string            // of cluster-init, for backups
	Binary              string            // static linux executable of cluster-init for the registry; empty: the running one
	Timeout             time.Duration
	Heartbeat           time.Duration
}

// Manifests are the release files that components and Flux are installed from.
type Manifests interface {
	content.Fetcher
	// Unpinned returns those of urls whose content no digest vouches for.
	Unpinned(urls []string) []string
}

// Parts are the systems that a run works with. All are required.
type Parts struct {
	Docker   *docker.Client
	Kind     *kind.Provider
	Provider provider.Provider // makes the machines
	// Leases keep runs on other machines from working on the same clusters. Whoever made them gives them back.
	Leases *lease.Set
	Now    func() time.Time
}

// Run is one run of `up`.
type Run struct {
	Options
	world *world
}

// New returns a run that has not looked at anything yet.
func New(o Options, p Parts) *Run { return &Run{Options: o, world: &world{Options: o, Parts: p}} }

// Requests returns how many API requests this run has sent so far to both clusters, the move included.
func (u *Run) Requests() int64 { return u.world.requests() }

// Reach connects to those of the two clusters that answer, for a look at them after a failure, however far the run came.
// The error tells of those that should answer and do not.
func (u *Run) Reach(ctx context.Context) ([]*kube.Cluster, error) { return u.world.answering(ctx) }

// BootstrapName is the name of the kind cluster.
func (o Options) BootstrapName() string { return owned.BootstrapCluster(o.Environment.ClusterName()) }

// RegistryName is the name of the registry's container.
func (o Options) RegistryName() string { return owned.Registry(o.Environment.ClusterName()) }
