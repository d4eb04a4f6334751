package down

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// moveBackPhase runs a pivot from the management to the bootstrap cluster. Unlike in a pivot of `up`, the source's
// providers and Machines need not be ready.
type moveBackPhase struct {
	world   world
	others  otherClusters
	scope   clusters.Scope
	options Options
	move    pivot.Mover
	now     func() time.Time
}

func (m moveBackPhase) run(ctx context.Context, report pipeline.Reporter) error {
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
		BackupDir: m.options.StateFolder, Recipients: m.options.BackupRecipients, Signer: m.options.BackupSigner,
		Version: m.options.Version, Patience: 2 * time.Minute, Flux: clusters.Suspension(management, m.scope),
		Move: m.move, Now: m.now, Log: report.Log, Waiting: func(what string) { report.Progress("waiting: %s", what) },
		// Announce runs after all rules passed. The mark makes `up` refuse this cluster.
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
