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
		Short: "Turn an existing cluster into a management cluster",
		Long: `install turns an existing Kubernetes cluster into a management cluster: it installs Flux,
cert-manager and the providers of Cluster API. It creates no bootstrap cluster and runs no pivot. The
cluster does not hold its own definition. Then workload apply makes clusters with it.

install refuses a cluster that has Flux, cert-manager or Cluster API from another owner. With --adopt
cert-manager it uses the existing one. You can interrupt or kill it at any time and run it again.
uninstall removes what it installed.`,
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
	f.StringSliceVar(&o.adopt, "adopt", nil, "use the cluster's own component in place of the release's: "+
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
			accepted:  func() { sink.begin(run.Environment, secretsOf(run.Source)...) },
			diagnosis: func() *diagnosis { return diagnosisOf(clusters.New(b.subject, b.parts)) },
			outcome:   func() outcome { return o.outcome(run) }}, nil
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
