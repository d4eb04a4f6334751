package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// startOptions are the flags of `start`.
type startOptions struct {
	environmentOptions
	clusters pivotClusters
	output   outputOptions
	timeout  time.Duration
	streams  Streams
}

func newStart(streams Streams) *cobra.Command {
	o := &startOptions{streams: streams}
	c := &cobra.Command{
		Use:   "start ENVIRONMENT",
		Short: "Start the stopped containers of a cluster on Docker, as after a reboot",
		Long: `start starts the stopped containers of a cluster on Docker with the addresses that they had: registry,
bootstrap cluster, load balancer, machines. It starts machines again that Docker has started with
other addresses, if their cluster does not answer. Then it waits until the API server answers, and
starts the machines of workload clusters. It makes and deletes nothing, and applies no values. Where
you do not give a flag of up, start takes that of the last up on this machine.

It refuses if another container has an address that a machine needs, and names that container.`,
		Example: `  cluster-init start kubeadm-capd
  cluster-init start kubeadm-capd --timeout 20m`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.clusters.flags(f)
	o.output.flags(f)
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long to wait until the API server answers (10s to 24h)")
	return c
}

func (o *startOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	return runPhases(ctx, sink, "start", name, func(ctx context.Context, leases *lease.Set) (*phaseRun, error) {
		looking, _, err := lookingAt(ctx, name, &o.environmentOptions, &o.clusters)
		if err := fault.Join(checkTimeout("--timeout ", o.timeout), err); err != nil {
			return nil, err
		}
		// clusters.World waits for a sixtieth of the timeout of a run, and start for its own
		looking.Timeout, looking.Leases = 60*o.timeout, leases
		var started []string
		start := func(ctx context.Context, report pipeline.Reporter) (err error) {
			started, err = looking.Start(ctx, report)
			return err
		}
		return &phaseRun{folder: looking.StateFolder,
			diagnosis: func() *diagnosis { return diagnosisOf(clusters.New(looking.Subject, looking.Parts)) },
			accepted:  func() { sink.begin(looking.environment) },
			// the time of the starts counts, too
			phases: []pipeline.Phase{{Name: "start", Title: "start what is stopped", Timeout: 2*o.timeout + time.Hour/4,
				Run: start}},
			outcome: func() outcome {
				if len(started) == 0 {
					return outcome{message: "Nothing of " + looking.Cluster + " was stopped."}
				}
				return outcome{message: "Started: " + strings.Join(started, ", ") + "."}
			}}, nil
	}, nil)
}
