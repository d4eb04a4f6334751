package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lock"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Start starts what is stopped of the clusters, waits for Patience until the one with the definition answers, and
// returns the names of what it started. Then it starts the machines of workload clusters that the management cluster
// knows. Only what AddressKeeper starts can be started.
func (w *World) Start(ctx context.Context, report pipeline.Reporter) (started []string, err error) {
	if _, keeps := w.Provider.(provider.AddressKeeper); !keeps {
		return nil, fault.New(fault.Usage, fmt.Sprintf("the machines of %s are in %s: only machines of Docker can be "+
			"started from here", w.Cluster, w.Provider.Place()),
			"Start its servers with the tools of "+w.Provider.Place()+", control-plane machines first. Then run "+
				"cluster-init status "+w.Argument+".")
	}
	if _, err := w.AskEngine(ctx); err != nil {
		return nil, err
	}
	s := newStarts(report, w.Patience())
	o, err := w.decide(ctx, s, func(o Observation) Decision { return w.judgeStart(ctx, o) })
	if err != nil {
		return s.names, err
	}
	if o.Management.Cluster != nil {
		if err := w.UseAndSave(o); err != nil {
			return s.names, err
		}
		err = w.startWorkloads(ctx, o, s)
	}
	return s.names, err
}

// judgeStart starts what is stopped, and then waits until the cluster answers that holds the definition.
func (w *World) judgeStart(ctx context.Context, o Observation) Decision {
	stopped, registryErr := w.registryStopped(ctx)
	wait := func(err error) Decision {
		return Decision{Retryable: true, Refusal: fault.Retryable(err, fault.ClusterUnreachable,
			o.AnswerHint(w.Argument, "See why: cluster-init diagnose "+w.Argument+"."))}
	}
	building := o.Bootstrap.Cluster != nil && o.Bootstrap.State == BootstrapActive && !o.Bootstrap.Suspended
	switch {
	case o.MachinesErr != nil, registryErr != nil:
		err := cmp.Or(o.MachinesErr, registryErr)
		return Decision{Refusal: fault.Wrap(err, fault.CodeOr(err, fault.ClusterUnreachable), fault.HintOf(err))}
	case o.Bootstrap.State == BootstrapForeign:
		return Decision{Refusal: o.Bootstrap.Err}
	case o.Management.State == ManagementForeign:
		return Decision{Refusal: o.Management.Err}
	case len(o.Machines) == 0 && !stopped && o.Bootstrap.State == BootstrapAbsent:
		return Decision{Refusal: fault.New(fault.ClusterUnreachable,
			"this Docker engine has no container of "+w.Cluster,
			"Run the command on the machine whose Docker engine has them, or point DOCKER_HOST at it. To make the "+
				"cluster: cluster-init up "+w.Argument+".")}
	case o.Bootstrap.TeardownRequested, o.Management.TeardownRequested: // machines stop before they are deleted
		return Decision{}
	case o.Stopped(), stopped:
		return Decision{Start: true}
	case o.Bootstrap.State == BootstrapSilent:
		return wait(fmt.Errorf("the bootstrap cluster does not answer: %w", o.Bootstrap.Err))
	case building, len(o.Machines) == 0: // the machines are still being made, by the next `up`
		return Decision{}
	case o.Management.State == ManagementSilent:
		return wait(fmt.Errorf("the management cluster %s does not answer: %w", w.Cluster, o.Management.Err))
	case o.Management.State == ManagementAbsent && o.Bootstrap.Cluster == nil:
		if _, _, err := w.Recover(ctx); err != nil {
			return wait(fmt.Errorf("the management cluster %s does not answer: %w", w.Cluster, err))
		}
	}
	return Decision{}
}

func (w *World) registryStopped(ctx context.Context) (bool, error) {
	found, err := w.Docker.Inspect(ctx, w.RegistryName())
	if errors.Is(err, docker.ErrNotFound) {
		return false, nil
	}
	return err == nil && !found.Running && !slices.Contains([]string{"removing", "created"}, found.Status), err
}

// startWorkloads starts the machines of workload clusters on the same engine. An error of one of them is a warning: the
// management cluster works.
func (w *World) startWorkloads(ctx context.Context, o Observation, s *starts) error {
	all, err := capi.Clusters(ctx, o.Management.Cluster.Client, "")
	if err != nil {
		return fmt.Errorf("list the workload clusters of %s: %w", w.Cluster, err)
	}
	keeper, _ := w.Provider.(provider.AddressKeeper)
	for _, c := range all {
		if c.Name == w.Cluster || c.Deleting {
			continue
		}
		machines, starter := keeper.Sibling(c.Name)
		err := w.startWorkload(ctx, machines, starter, s)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			s.report.Warn("the machines of the workload cluster %s/%s are not started: %v. %s", c.Namespace, c.Name,
				err, fault.HintOf(err))
		}
	}
	return nil
}

// startWorkload starts what does not run of a workload cluster. It starts running machines again only if none of the
// control plane has its address: such a cluster cannot answer.
func (w *World) startWorkload(ctx context.Context, machines provider.Provider, starter provider.AddressKeeper,
	s *starts) error {
	found, err := machines.Machines(ctx)
	if err != nil || len(found) == 0 {
		return err
	}
	misplaced, err := starter.Misplaced(ctx)
	if err != nil {
		return err
	}
	again := misplaced.Balancers
	if misplaced.All {
		again = append(again, misplaced.Machines...)
	}
	if len(again) == 0 && !slices.ContainsFunc(found, func(m provider.Machine) bool { return m.Stopped }) {
		return nil
	}
	return lock.UnderNetwork(ctx, w.StateFolder, func() error { return starter.StartAll(ctx, nil, again, s.begin) })
}
