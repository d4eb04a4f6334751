package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/install"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// installOptions are the flags of `install`.
type installOptions struct {
	buildOptions
	output       outputOptions
	allowChanges []string
	adopt        []string
	streams      Streams
}

func newInstall(streams Streams) *cobra.Command {
	o := &installOptions{streams: streams}
	o.readsKubeconfig, o.installed = true, true
	c := &cobra.Command{
		Use:   "install ENVIRONMENT --kubeconfig FILE",
		Short: "Make an existing cluster a management cluster",
		Long: `install makes an existing Kubernetes cluster a management cluster: it installs Flux, cert-manager and
the providers of Cluster API. There is no bootstrap cluster and no pivot, and the cluster gets no
definition of its own. Then workload apply makes clusters with it.

install refuses a cluster that has Flux, cert-manager or Cluster API from another owner. With --adopt
cert-manager it uses the one that is there. You can interrupt or kill it at any time and run it
again. uninstall removes what it installed.`,
		Example: `  cluster-init install kubeadm-capo --kubeconfig ./existing.kubeconfig --source git \
    --source-url https://git.example.org/platform.git
  cluster-init workload apply kubeadm-capo --in kubeadm-capo --kubeconfig ./existing.kubeconfig --name shop`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.supplyFlags(f, o.streams, install.PhaseNames())
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the existing cluster (required)")
	f.StringSliceVar(&o.allowChanges, "allow-changes", nil, "allow this change (KEY from the refusal; repeatable)")
	f.StringSliceVar(&o.adopt, "adopt", nil, "use this component of the cluster instead of the one that install "+
		"brings: "+
		"cert-manager")
	o.output.flags(f)
	return c
}

func (o *installOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	ctx, release := o.bounded(ctx)
	defer release()
	return runPhases(ctx, sink, "install", name, func(ctx context.Context, leases *lease.Set) (*phaseRun, error) {
		if o.kubeconfig == "" {
			return nil, fault.New(fault.Usage, "--kubeconfig is missing",
				"Name the existing cluster: --kubeconfig FILE.")
		}
		if err := o.useAdopted(ctx, name); err != nil {
			return nil, err
		}
		b, err := o.resolve(ctx, name, sink, leases)
		if err != nil {
			return nil, err
		}
		run := install.New(install.Options{Subject: b.subject, Environment: b.environment, Supplies: b.supplies,
			AllowChanges: o.allowChanges, Heartbeat: 15 * time.Second}, b.parts)
		learn := func() { sink.learn(run.Environment, secretsOf(run.Source)...) }
		phases, err := pipeline.WithBounds(after(run.Phases(), install.PhaseValues, learn), b.bounds)
		if err != nil {
			return nil, err
		}
		return &phaseRun{folder: run.StateFolder, phases: phases,
			accepted: func() { sink.begin(run.Environment, secretsOf(run.Source)...) },
			looks:    func() *clusters.World { return clusters.New(b.subject, b.parts) },
			outcome:  func() outcome { return o.outcome(run) }}, nil
	}, nil)
}

// useAdopted adds the values of a release that uses components of other owners.
func (o *installOptions) useAdopted(ctx context.Context, name string) error {
	if len(o.adopt) == 0 {
		return nil
	}
	env, err := o.load(ctx, name, nil)
	if err != nil {
		return err
	}
	adopted, err := install.AdoptedValues(env, o.adopt)
	o.sets = append(o.sets, adopted...)
	return err
}

func (o *installOptions) outcome(run *install.Run) outcome {
	message := "The cluster is the management cluster " + run.Environment.ClusterName() + "."
	if run.Unchanged() {
		message += " Nothing has changed."
	}
	return outcome{
		message: message,
		fields: map[string]string{"look": "kubectl --kubeconfig " + oneline.Shell(o.kubeconfig) +
			" get kustomizations -A"},
	}
}
