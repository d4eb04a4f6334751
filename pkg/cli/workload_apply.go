package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// workloadApplyOptions are the flags of `workload apply`.
type workloadApplyOptions struct {
	workloadDefinition
	timeout     time.Duration
	keepWaiting bool
	output      outputOptions
	streams     Streams
}

func newWorkloadApply(streams Streams) *cobra.Command {
	o := &workloadApplyOptions{streams: streams}
	c := &cobra.Command{
		Use:   "apply ENVIRONMENT --in ENVIRONMENT",
		Short: "Create or change a workload cluster, and wait until it is ready",
		Long: `apply gives a management cluster the definition of a workload cluster, and follows it until the
cluster and what is in it are ready. The definition is a HelmRelease in the namespace of the Cluster,
from the source of the management cluster. You can interrupt or kill it at any time and run it again.

apply refuses a change that removes, replaces or downgrades a part of the cluster. --allow-changes
allows it.`,
		Example: `  cluster-init workload apply kubeadm-capd --in kubeadm-capd --name shop --namespace team-a
  cluster-init workload apply ./shop --in kubeadm-capo`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.workloadDefinition.flags(f, o.streams)
	o.output.flags(f)
	f.BoolVar(&o.keepWaiting, "keep-waiting", false, "keep waiting when a permanent failure is detected")
	f.DurationVar(&o.timeout, "timeout", 30*time.Minute, "how long to wait until it is ready")
	return c
}

func (o *workloadApplyOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	return runPhases(ctx, sink, "workload apply", name, func(ctx context.Context, leases *lease.Set) (*phaseRun,
		error) {
		looking, cluster, err := o.resolve(ctx, name)
		if err := fault.Join(err, checkTimeout("--timeout ", o.timeout)); err != nil {
			return nil, err
		}
		looking.Leases = leases
		began := time.Now()
		cluster.Follow = rollout.Options{Heartbeat: 15 * time.Second, Now: time.Now, Kinds: cluster.Provider.Kinds(),
			KeepWaiting: o.keepWaiting, Causes: func(ctx context.Context) ([]rollout.Cause, error) {
				return o.managed.diagnosis(looking, cluster.Key()).permanentCauses(ctx, began)
			}}
		world, folder := leasedBy(looking, cluster.Key())
		message := "The workload cluster " + cluster.Key().String() + " is ready."
		return &phaseRun{folder: folder, accepted: func() { sink.begin(cluster.Environment) },
			diagnosis: func() *diagnosis { return o.managed.diagnosis(looking, cluster.Key()) },
			outcome:   func() outcome { return outcome{message: message} },
			phases: []pipeline.Phase{
				{Name: "preflight", Title: "check the management cluster and the cloud", Timeout: 5 * time.Minute,
					Run: func(ctx context.Context, report pipeline.Reporter) error {
						if cluster.Management, err = o.managed.connect(ctx, looking); err != nil {
							return err
						}
						if _, err := world.TakeLease(ctx, cluster.Management, report); err != nil {
							return err
						}
						if cluster.SharesName() {
							if err := world.TakeNameLease(ctx, cluster.Management, report); err != nil {
								return err
							}
						}
						return fault.Join(cluster.Check(ctx, report), cluster.Provider.Preflight(ctx, report))
					}},
				{Name: "workload-cluster", Title: "workload cluster", Timeout: o.timeout,
					Run: func(ctx context.Context, report pipeline.Reporter) error {
						connected := cluster // in the phase before
						return connected.Apply(ctx, report)
					}}},
		}, nil
	}, nil)
}
