// Package up builds a self-managed management cluster: the phases of `cluster-init up`.
package up

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Options are the inputs of a run of `up`.
type Options struct {
	clusters.Subject
	Environment *environment.Environment // the environment of Subject
	bootstrap.Supplies
	KeepBootstrap bool
	// The name of the cluster, if the user confirmed with --new that it does not exist yet. It matters only if the
	// provider cannot list machines.
	ConfirmedNew     string
	AllowChanges     []string          // keys of the changes that may remove something from the cluster
	BackupRecipients backup.Recipients // who can open backups; without one they are not encrypted
	BackupSigner     backup.Signer     // signs backups; without a key they are not signed
	BackupEtcd       bool              // whether Backup has a snapshot of etcd
	BackupKeep       int               // how many backups of the cluster Backup leaves in its folder; 0: all
	Version          string            // of cluster-init, for backups
	Heartbeat        time.Duration
	// Causes returns permanent causes, which end the wait. With KeepWaiting, they are only reported. Nil means not
	// checked.
	Causes      func(context.Context) ([]rollout.Cause, error)
	KeepWaiting bool
}

// Run is one run of `up`.
type Run struct {
	Options
	decider   *decider
	resumes   bool              // an earlier run left something; the phase look sets it
	published content.Published // of an embedded source, once it is published
}

// New returns a run that has not observed anything yet.
func New(o Options, p clusters.Parts) *Run {
	return &Run{Options: o, decider: newDecider(clusters.New(o.Subject, p), o.ConfirmedNew != "")}
}

// Requests returns how many API requests this run has sent so far to both clusters, the move included.
func (u *Run) Requests() int64 { return u.decider.Requests() }

// Reach connects to the clusters that answer, to diagnose a failure. The error reports those that should answer and do
// not.
func (u *Run) Reach(ctx context.Context) ([]*kube.Cluster, error) { return u.decider.Answering(ctx) }

// Inputs describes what decides how long the run takes: machines, release, source, components, and whether it resumes
// an earlier run. Only after the phase look is it known whether it resumes one. Runs with the same inputs take about as
// long.
func (u *Run) Inputs() string { // kept runs are compared by this text
	spec := u.Environment.Spec().Cluster
	parts := []string{fmt.Sprintf("%d control-plane machines and %d workers of %s", spec.ControlPlane.Replicas,
		spec.WorkerCount(), u.Environment.KubernetesVersion()),
		"source " + string(u.Source.Kind), "chart " + u.Environment.ChartVersion()}
	if u.Bundle != nil {
		parts = append(parts, "a bundle")
	}
	if u.BootstrapKubeconfig != "" {
		parts = append(parts, "an existing bootstrap cluster")
	}
	if u.resumes {
		parts = append(parts, "what an earlier run has left")
	}
	names, err := componentNames(u.Environment, environment.Management)
	if err == nil { // on an error the run does not complete, and no other run is compared with it
		parts = append(parts, "components "+strings.Join(names, " "))
	}
	return strings.Join(parts, ", ")
}
