package down

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// moveHome moves the definition out of the management cluster: a pivot with the sides exchanged, and as safe.
type moveHome struct {
	world  world
	others otherClusters
	scope  clusters.Scope
	asked  Options
	move   pivot.Mover
	now    func() time.Time
}

func (m moveHome) run(ctx context.Context, report pipeline.Reporter) error {
	bootstrap, err := m.world.Connected(clusters.BootstrapName)
	if err != nil {
		return err
	}
	management, err := m.world.Connected(clusters.ManagementName)
	if err != nil {
		return err
	}
	if err := m.world.KeepBootstrapKubeconfig(bootstrap); err != nil {
		return err
	}
	o, err := m.world.confirm(ctx, moveBack)
	if err != nil {
		return err
	}
	if err := m.others.requireNone(ctx, o); err != nil {
		return err
	}
	result, err := pivot.Run(ctx, pivot.Input{
		Source: m.world.Side(management), Target: m.world.Side(bootstrap), Back: true, Scope: m.scope,
		BackupDir: m.asked.StateFolder, Recipients: m.asked.BackupRecipients, Signer: m.asked.BackupSigner,
		Version: m.asked.Version, Patience: 2 * time.Minute, Flux: clusters.Suspension(management, m.scope),
		Move: m.move,
		Now:  m.now, Log: report.Log, Waiting: func(what string) { report.Progress("waiting: %s", what) },
		// From here on `up` must not keep the cluster. A refused move leaves the cluster unchanged.
		Announce: func(ctx context.Context) error { return mark(ctx, management, m.scope) },
	})
	if err != nil {
		return err
	}
	if result.Already {
		report.Progress("an earlier run has moved it")
		return nil
	}
	report.Progress("moved %s back into the bootstrap cluster", oneline.Count(len(result.Moved), "object"))
	return nil
}
