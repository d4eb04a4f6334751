package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// workloadApplyOptions are the flags of `workload apply`.
type workloadApplyOptions struct {
	environmentOptions
	managed   managedBy
	applied   applyOptions
	name      string
	namespace string
	timeout   time.Duration
	output    outputOptions
	streams   Streams
}

func newWorkloadApply(streams Streams) *cobra.Command {
	o := &workloadApplyOptions{streams: streams}
	c := &cobra.Command{
		Use:   "apply ENVIRONMENT --in ENVIRONMENT",
		Short: "Create or change a workload cluster, and wait until it is ready",
		Long: `apply gives a management cluster the definition of a workload cluster, and follows it until the
cluster and what is in it are ready. The definition is a HelmRelease in the namespace of the Cluster,
from the source of the management cluster. You can interrupt or kill it at any time and run it again.`,
		Example: `  cluster-init workload apply kubeadm-capd --in kubeadm-capd --name shop --namespace team-a
  cluster-init workload apply ./shop --in kubeadm-capo`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.managed.flags(f, o.streams)
	o.applied.flags(f, "folder of the offline bundle of the management cluster")
	o.output.flags(f)
	f.StringVar(&o.name, "name", "", "name of the workload cluster (default: cluster.name of the environment)")
	f.StringVar(&o.namespace, "namespace", "", "its namespace (default: cluster.namespace of the environment)")
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
		looking, lookErr := o.managed.find(ctx)
		env, err := o.load(ctx, name)
		if err := fault.Join(lookErr, err, checkTimeout("--timeout ", o.timeout)); err != nil {
			return nil, err
		}
		if env, err = o.asApplied(env, looking.Cluster); err != nil {
			return nil, err
		}
		if err := differs(env, looking.Identity); err != nil {
			return nil, err
		}
		looking.Leases = leases
		makes, err := known.Of(env, looking.Docker)
		if err != nil {
			return nil, err
		}
		cluster := workload.Cluster{Environment: env, Machines: known.Ranges(env),
			Self:   workload.Key{Namespace: looking.Namespace, Name: looking.Cluster},
			Follow: rollout.Options{Heartbeat: 15 * time.Second, Now: time.Now, Kinds: makes.Kinds()}}
		cluster.Settled, cluster.Argument = o.known.learnOf, looking.Argument
		world, folder := leasedBy(looking, cluster.Key())
		message := "The workload cluster " + cluster.Key().String() + " is ready."
		return &phaseRun{folder: folder, accepted: func() { sink.begin(env) },
			looks:   func() *clusters.World { return clusters.New(looking.Subject, looking.Parts) },
			outcome: func() outcome { return outcome{message: message} },
			phases: []pipeline.Phase{
				{Name: "preflight", Title: "check the management cluster and the cloud", Timeout: 5 * time.Minute,
					Run: func(ctx context.Context, report pipeline.Reporter) error {
						if cluster.Management, err = o.managed.connect(ctx, looking); err != nil {
							return err
						}
						if _, err := world.TakeLease(ctx, cluster.Management, report); err != nil {
							return err
						}
						return fault.Join(cluster.Check(ctx, report), makes.Preflight(ctx, report))
					}},
				{Name: "workload-cluster", Title: "workload cluster", Timeout: o.timeout,
					Run: func(ctx context.Context, report pipeline.Reporter) error {
						connected := cluster // in the phase before
						return connected.Apply(ctx, report)
					}}},
		}, nil
	}, nil)
}

// load loads the environment as that of a workload cluster.
func (o *workloadApplyOptions) load(ctx context.Context, name string) (*environment.Environment, error) {
	options := o.options(name)
	options.Workload, options.Derive = true, derive
	options.Sets = append(append([]string(nil), o.sets...), namesAsSets(o.name, o.namespace)...)
	return environment.Load(ctx, options)
}

// asApplied adds what the bundle of the management cluster and the mirrors need.
func (o *workloadApplyOptions) asApplied(env *environment.Environment, management string) (*environment.Environment,
	error) {
	mirrors, err := oci.ParseMirrors(o.applied.mirrors)
	if err != nil {
		return nil, err
	}
	opened, err := openBundle(o.applied.bundle, env.BuiltOn())
	if err != nil {
		return nil, err
	}
	env, _, err = asApplied(env, opened, mirrors, management)
	return env, err
}
