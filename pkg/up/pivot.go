package up

import (
	"context"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// pivotPatience allows controllers to restart with their machines: each waits for its old Lease to expire.
const pivotPatience = 3 * time.Minute

// pivotMove moves the cluster definitions into the management cluster.
type pivotMove struct {
	world   world
	scope   clusters.Scope
	folder  string // for backups
	options Options
	move    pivot.Mover
	now     func() time.Time
}

func (p pivotMove) does() (string, error) {
	return fmt.Sprintf("save what Cluster API holds in namespace %s to %s, and move it into the management cluster",
		p.scope.Namespace, p.folder), nil
}

func (p pivotMove) check(ctx context.Context) (pipeline.Status, error) {
	current, err := p.world.currentDecision(ctx)
	if err != nil || current != pivoted {
		return pipeline.Status{}, err
	}
	if err := p.verifyBackup(ctx, clusters.ManagementName); err != nil {
		return pipeline.Status{}, err
	}
	return nothingToDo("the management cluster holds its own definition")
}

// verifyBackup repeats the verification of an earlier run's move, on its target, if that run left the move unverified.
func (p pivotMove) verifyBackup(ctx context.Context, target string) error {
	backup, err := record.Newest(p.folder, p.scope.Cluster)
	if err != nil || backup == "" {
		return err
	}
	c, err := p.world.Connected(target)
	if err != nil {
		return err
	}
	return pivot.VerifyBackup(ctx, p.world.Side(c), p.scope, backup)
}

func (p pivotMove) run(ctx context.Context, report pipeline.Reporter) error {
	bootstrap, err := p.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	management, err := p.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	if err := p.world.KeepBootstrapKubeconfig(bootstrap); err != nil {
		return err
	}
	result, err := pivot.Run(ctx, p.input(bootstrap, management, report))
	if err != nil {
		return err
	}
	if result.Already {
		report.Progress("another run has moved it")
		return p.verifyBackup(ctx, clusters.ManagementName)
	}
	where := "their backup is in " + result.Backup
	if result.Backup == "" {
		where = "their backup is on the machine that began the move"
	}
	report.Progress("moved %s; %s", oneline.Count(len(result.Moved), "object"), where)
	return nil
}

// input returns the input of a move from one cluster into the other.
func (p pivotMove) input(from, to *kube.Cluster, report pipeline.Reporter) pivot.Input {
	return pivot.Input{
		Source: p.world.Side(from), Target: p.world.Side(to), Scope: p.scope,
		BackupDir: p.folder, Recipients: p.options.BackupRecipients, Signer: p.options.BackupSigner,
		Version: p.options.Version, Patience: pivotPatience, Flux: clusters.Suspension(from, p.scope), Move: p.move,
		Now: p.now, Log: report.Log, Waiting: func(what string) { report.Progress("waiting: %s", what) },
	}
}
