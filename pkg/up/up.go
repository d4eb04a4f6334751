// Package up builds a self-managed management cluster: the phases of `cluster-init up`, one file each.
package up

import (
	"context"
	"io/fs"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Options is what a run of `up` is asked for.
type Options struct {
	world.Subject
	Content          fs.FS             // charts, kustomize-components
	Profile          map[string][]byte // further files of the content, of the bundle
	Source           source.Source     // where Flux reads the content from
	Bundle           *bundle.Bundle
	Manifests        Manifests    // what remote manifests are read from: the bundle, or else their URLs
	Mirrors          []oci.Mirror // of the bundle and of the user
	NodeImage        string       // of the bootstrap cluster; empty: the bundle's, or kind.DefaultNodeImage
	APIServerPort    int32
	KeepBootstrap    bool
	AllowChanges     []string          // keys of changes that may take something away from the cluster
	BackupRecipients backup.Recipients // who can open backups; none: they are not encrypted
	Version          string            // of cluster-init, for backups
	Binary           string            // static linux executable of cluster-init for the registry; empty: the running one
	Heartbeat        time.Duration
}

// Manifests are the release files that components and Flux are installed from.
type Manifests interface {
	content.Fetcher
	// Unpinned returns those of urls whose content no digest vouches for.
	Unpinned(urls []string) []string
}

// Run is one run of `up`.
type Run struct {
	Options
	world *judged
}

// New returns a run that has not looked at anything yet.
func New(o Options, p world.Parts) *Run {
	return &Run{Options: o, world: &judged{world.New(o.Subject, p)}}
}

// Requests returns how many API requests this run has sent so far to both clusters, the move included.
func (u *Run) Requests() int64 { return u.world.Requests() }

// Reach connects to those of the two clusters that answer, for a look at them after a failure, however far the run came.
// The error tells of those that should answer and do not.
func (u *Run) Reach(ctx context.Context) ([]*kube.Cluster, error) { return u.world.Answering(ctx) }
