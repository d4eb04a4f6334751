package clusters

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// starts are the containers that a run has started so far.
type starts struct {
	begun  map[string]bool
	names  []string // all that begun had, in order
	moved  bool     // whether restartMisplaced has checked
	report pipeline.Reporter
	// patience is how long to wait for an answer after a start: an API server takes a while to come up.
	patience time.Duration
}

func newStarts(report pipeline.Reporter, patience time.Duration) *starts {
	return &starts{begun: map[string]bool{}, report: report, patience: patience}
}

// begin reports a start. A container that stopped again at once is an error.
func (s *starts) begin(name, address string) error {
	if s.begun[name] {
		return fault.New(fault.ClusterUnreachable, name+" was started and stopped again at once",
			"See why: docker logs "+name)
	}
	s.begun[name] = true
	if !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
	if address == "" {
		s.report.Progress("starting %s, which is stopped", name)
	} else {
		s.report.Progress("starting %s with its address %s", name, address)
	}
	return nil
}

// startStopped starts stopped managed containers, as after a reboot: registry, bootstrap cluster, machines, in the
// order of their creation. It first stops those of again.
func (w *World) startStopped(ctx context.Context, o Observation, s *starts, again []string) error {
	if keeper, keeps := w.Provider.(provider.AddressKeeper); keeps {
		return lock.UnderNetwork(ctx, w.StateFolder, func() error {
			return keeper.StartAll(ctx, w.adjacent(o), again, s.begin)
		})
	}
	registry, err := w.Docker.Inspect(ctx, w.RegistryName())
	if err != nil && !errors.Is(err, docker.ErrNotFound) {
		return err
	}
	if err == nil && !registry.Running && registry.Status != "removing" {
		if err := w.start(ctx, s, w.RegistryName()); err != nil {
			return err
		}
	}
	if o.Bootstrap.State == BootstrapStopped {
		if err := w.start(ctx, s, kind.NodeName(w.BootstrapName())); err != nil {
			return err
		}
	}
	for _, m := range o.Machines {
		if !m.Stopped {
			continue
		}
		if err := s.begin(m.Name, ""); err != nil {
			return err
		}
		if err := w.Provider.Start(ctx, m); err != nil {
			return fault.Wrap(err, fault.ClusterUnreachable, "See why: docker logs "+m.Name)
		}
	}
	return nil
}

func (w *World) start(ctx context.Context, s *starts, name string) error {
	if err := s.begin(name, ""); err != nil {
		return err
	}
	if err := w.Docker.Start(ctx, name); err != nil {
		return fault.Wrap(err, fault.ClusterUnreachable, "See why: docker logs "+name)
	}
	return nil
}

// adjacent returns the names of the registry and of the bootstrap cluster's node, if it may exist.
func (w *World) adjacent(o Observation) []string {
	names := []string{w.RegistryName()}
	if !slices.Contains([]BootstrapState{BootstrapAbsent, BootstrapForeign, BootstrapUnfinished}, o.Bootstrap.State) &&
		w.BootstrapKubeconfig == "" {
		names = append(names, kind.NodeName(w.BootstrapName()))
	}
	return names
}

// restartMisplaced starts again what the engine has started with a wrong address, as its restart policies can after a
// reboot. It restarts a load balancer that no machine finds, and machines only while the cluster does not answer. It
// checks once. A cluster that answers does not depend on the check, so its error counts only for a silent one.
func (w *World) restartMisplaced(ctx context.Context, o Observation, s *starts, silent bool) (restarted bool,
	err error) {
	keeper, keeps := w.Provider.(provider.AddressKeeper)
	if !keeps || s.moved || len(o.Machines) == 0 {
		return false, nil
	}
	s.moved = true
	found, err := keeper.Misplaced(ctx)
	if err != nil && silent {
		return false, err
	}
	again := found.Balancers
	if silent {
		again = append(again, found.Machines...)
	}
	if err != nil || len(again) == 0 {
		return false, nil
	}
	clear(s.begun) // it stops what this run has started with the address of another one
	return true, w.startStopped(ctx, o, s, again)
}
