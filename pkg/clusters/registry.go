package clusters

import (
	"context"
	"errors"
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// Registry returns the registry next to the clusters, for an observation of one of them.
func (w *World) Registry() readiness.Registry {
	return readiness.Registry{Name: w.RegistryName(), State: w.registryState}
}

func (w *World) registryState(ctx context.Context) (string, error) {
	found, err := w.Docker.Inspect(ctx, w.RegistryName())
	switch {
	case errors.Is(err, docker.ErrNotFound):
		return readiness.RegistryAbsent, w.engineHasClusters(ctx)
	case err != nil:
		return "", err
	case found.Status == readiness.RegistryPaused:
		return readiness.RegistryPaused, nil
	case found.Running:
		return readiness.RegistryRunning, nil
	}
	return found.Status, nil
}

// engineHasClusters fails unless this engine has the bootstrap cluster's node, or machines that read from the registry.
// The engine of another computer lacks the registry too, so its absence there means nothing.
func (w *World) engineHasClusters(ctx context.Context) error {
	if _, err := w.Docker.Inspect(ctx, kind.NodeName(w.BootstrapName())); err == nil {
		return nil
	}
	if w.Provider.ReachesEngine() {
		if machines, err := w.Provider.Machines(ctx); err != nil || len(machines) > 0 {
			return err
		}
	}
	return fmt.Errorf("this Docker engine has neither it nor a machine of %s", w.Cluster)
}
