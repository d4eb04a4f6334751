// Package down deletes a living management cluster: the phases of `cluster-init down`. It recreates a bootstrap cluster
// and moves the definition back into it. There, the controllers of Cluster API delete the Cluster. `down` waits until
// the Cluster is gone, and cleans up what is left.
package down

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Options are the inputs of a run of `down`.
type Options struct {
	clusters.Subject
	Environment *environment.Environment // the environment of Subject
	bootstrap.Supplies
	WithWorkloadClusters      bool     // also delete the workload clusters that it still manages
	ConfirmedWorkloadClusters []string // the workload clusters that the user was shown, as namespace/name
	// WorkloadProvider returns the infrastructure provider of a workload cluster from its stored values.
	WorkloadProvider func(environment.Objects) (provider.Provider, error)
	// Who can open the backup that the move back makes. Without a recipient it is not encrypted.
	BackupRecipients backup.Recipients
	BackupSigner     backup.Signer // signs that backup; without a key it is not signed
	Version          string        // of cluster-init, for backups
	Heartbeat        time.Duration
	// Cleaner deletes what is left at the end, and Observer acquires the leases for it.
	Cleaner  cleanup.Cleaner
	Observer cleanup.Observer
}

// Run is one run of `down`.
type Run struct {
	Options
	decider   *decider
	published content.Published // of an embedded source, once it is published
}

// New returns a run that has not observed anything yet.
func New(o Options, p clusters.Parts) *Run {
	return &Run{Options: o, decider: newDecider(clusters.New(o.Subject, p))}
}

// Requests returns how many API requests this run has sent so far to both clusters, the move included.
func (d *Run) Requests() int64 { return d.decider.Requests() }

// keepValues loads the values stored in the cluster. Credentials and values that replace machines still come from this
// shell. After a read error all values do: the error must not prevent the deletion of the cluster.
func (d *Run) keepValues(ctx context.Context, o clusters.Observation, report pipeline.Reporter) {
	authority := o.Management.Cluster
	if authority == nil {
		authority = o.Bootstrap.Cluster
	}
	if authority == nil {
		return
	}
	applied, err := rollout.Applied(ctx, authority, d.Environment)
	if err != nil {
		report.Warn("this run uses the values of the environment and of this shell: %v", err)
		return
	}
	d.Environment = applied
}
