package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// workloadDeleteOptions are the flags of `workload delete`.
type workloadDeleteOptions struct {
	managed managedBy
	yes     bool
	timeout time.Duration
	output  outputOptions
	streams Streams
}

func newWorkloadDelete(streams Streams) *cobra.Command {
	o := &workloadDeleteOptions{streams: streams}
	c := &cobra.Command{
		Use:   "delete NAMESPACE/NAME --in ENVIRONMENT",
		Short: "Delete a workload cluster with its machines",
		Long: `delete deletes a workload cluster that workload apply made. The controllers of the management cluster
delete its machines. Then delete removes the release with its values and its source. The namespace
stays. You can interrupt or kill it at any time and run it again.`,
		Example: `  cluster-init workload delete team-a/shop --in kubeadm-capd
  cluster-init workload delete team-a/shop --in kubeadm-capd --yes`,
		Args: exactlyOne("NAMESPACE/NAME"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.managed.flags(f, o.streams)
	o.output.flags(f)
	f.BoolVar(&o.yes, "yes", false, "delete without a question")
	f.DurationVar(&o.timeout, "timeout", 30*time.Minute, "how long to wait until all of it is deleted")
	return c
}

func (o *workloadDeleteOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	looking, key, err := o.agreed(ctx, name)
	if err != nil {
		return sink.settled(ctx, "workload delete", name, err)
	}
	return runPhases(ctx, sink, "workload delete", name, func(_ context.Context, leases *lease.Set) (*phaseRun, error) {
		looking.Leases = leases
		world, folder := leasedBy(looking, key)
		message := "The workload cluster " + key.String() + " is deleted."
		return &phaseRun{folder: folder, accepted: func() { sink.begin(looking.environment) },
			diagnosis: func() *diagnosis { return o.managed.diagnosis(looking, key) },
			outcome:   func() outcome { return outcome{message: message} },
			phases: []pipeline.Phase{{Name: "deletion", Title: "delete the workload cluster", Timeout: o.timeout,
				Run: func(ctx context.Context, report pipeline.Reporter) error {
					management, err := o.managed.connect(ctx, looking)
					if err != nil {
						return err
					}
					if _, err := world.TakeLease(ctx, management, report); err != nil {
						return err
					}
					return workload.Deletion{Management: management, Key: key, Cluster: clusters.Deletion{
						Cluster: management, Heartbeat: 15 * time.Second, Now: time.Now},
						Provider: providerOfWorkload(looking.environment, looking.Docker)}.Run(ctx, report)
				}}},
		}, nil
	}, nil)
}

// providerOfWorkload returns a function that finds the infrastructure provider of a workload cluster from its stored
// values. env is the environment of its management cluster.
func providerOfWorkload(env *environment.Environment, engine *docker.Client) func(environment.Objects) (
	provider.Provider, error) {
	return func(given environment.Objects) (provider.Provider, error) {
		stored, err := env.StoredWorkload(given)
		if err != nil {
			return nil, err
		}
		return known.Of(stored, engine)
	}
}

// agreed checks all input, and returns the management cluster and the cluster that the user wants deleted.
func (o *workloadDeleteOptions) agreed(ctx context.Context, name string) (*viewed, workload.Key, error) {
	key, nameErr := workloadKey(name)
	looking, err := o.managed.find(ctx)
	if err := fault.Join(nameErr, err, checkTimeout("--timeout ", o.timeout)); err != nil {
		return nil, key, err
	}
	if key.Namespace == looking.Namespace && key.Name == looking.Cluster {
		return nil, key, fault.New(fault.Usage, name+" is the management cluster",
			"Delete it with cluster-init down "+o.managed.in+".")
	}
	management, err := o.managed.connect(ctx, looking)
	if err != nil {
		return nil, key, err
	}
	if err := (workload.Deletion{Management: management, Key: key}).Check(ctx); err != nil {
		return nil, key, err
	}
	return looking, key, confirm(ctx, o.streams, o.yes, key.Name, "the workload cluster "+name+" with its machines")
}
