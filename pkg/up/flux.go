package up

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// fluxInstall installs Flux in one of the two clusters.
type fluxInstall struct {
	cluster    string
	world      world
	flux       bootstrap.Flux
	untilPivot bool // Flux is not needed there after the pivot
}

func (f fluxInstall) does() (string, error) {
	return "install Flux " + flux.Version + " in the " + f.cluster + " cluster", nil
}

func (f fluxInstall) check(ctx context.Context) (pipeline.Status, error) {
	if f.untilPivot {
		if status, err := pendingUntilPivot(ctx, f.world, "not needed any more"); err != nil ||
			status.State == pipeline.Done {
			return status, err
		}
	}
	c, err := f.world.Connected(f.cluster)
	if err != nil {
		return pipeline.Status{}, err
	}
	installed, err := f.flux.Installed(ctx, c)
	if err != nil || !installed {
		return pipeline.Status{}, err
	}
	return nothingToDo("Flux " + flux.Version + " is running")
}

func (f fluxInstall) run(ctx context.Context, report pipeline.Reporter) error {
	c, err := f.world.Connected(f.cluster)
	if err != nil {
		return err
	}
	// Until the pivot, Flux there waits for what the bootstrap cluster still has to install, such as the network.
	if f.cluster == clusters.ManagementName {
		current, err := f.world.currentDecision(ctx)
		if err != nil {
			return err
		}
		if bootstrap, err := f.world.Connected(clusters.BootstrapName); err == nil && current == beforePivot {
			f.flux.Follow.Beside = bootstrap
		}
	}
	return f.flux.Install(ctx, c, report)
}
