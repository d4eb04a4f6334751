package clusters

import (
	"context"
	"errors"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// startStopped starts stopped managed containers, as after a reboot, in the order of their creation: registry,
// bootstrap cluster, machines. Docker assigns addresses in the order of the starts, and machines fail to start with
// other addresses than before.
func (w *World) startStopped(ctx context.Context, o Observation, started map[string]bool,
	report pipeline.Reporter) error {
	type container struct {
		name  string
		start func(context.Context) error
	}
	engine := func(name string) container {
		return container{name, func(ctx context.Context) error { return w.Docker.Start(ctx, name) }}
	}
	var stopped []container
	registry, err := w.Docker.Inspect(ctx, w.RegistryName())
	if err != nil && !errors.Is(err, docker.ErrNotFound) {
		return err
	}
	if err == nil && !registry.Running && registry.Status != "removing" {
		stopped = append(stopped, engine(w.RegistryName()))
	}
	if o.Bootstrap.State == BootstrapStopped {
		stopped = append(stopped, engine(kind.NodeName(w.BootstrapName())))
	}
	for _, m := range o.Machines {
		if m.Stopped {
			stopped = append(stopped, container{m.Name,
				func(ctx context.Context) error { return w.Provider.Start(ctx, m) }})
		}
	}
	for _, c := range stopped {
		if started[c.name] {
			return fault.New(fault.ClusterUnreachable, c.name+" was started and stopped again at once",
				"See why: docker logs "+c.name)
		}
		started[c.name] = true
		report.Progress("starting %s, which is stopped", c.name)
		if err := c.start(ctx); err != nil {
			return fault.Wrap(err, fault.ClusterUnreachable, "See why: docker logs "+c.name)
		}
	}
	return nil
}
