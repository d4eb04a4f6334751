package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/install"
	"github.com/cluster-init/cluster-init/pkg/lease"
)

// uninstallOptions are the flags of `uninstall`.
type uninstallOptions struct {
	environmentOptions
	kubeconfig string
	yes        bool
	timeout    time.Duration
	output     outputOptions
	streams    Streams
}

func newUninstall(streams Streams) *cobra.Command {
	o := &uninstallOptions{streams: streams}
	c := &cobra.Command{
		Use:   "uninstall ENVIRONMENT --kubeconfig FILE",
		Short: "Remove what install put into an existing cluster",
		Long: `uninstall removes what install put into an existing cluster: the components with their definitions and
namespaces, the release with its values, Flux unless another owner uses it, and the registry next to
the cluster. It leaves what install found there.

uninstall refuses if the cluster manages workload clusters, if objects of another owner would be
deleted, or if they need something that would be deleted: a volume needs its driver. It leaves
namespaces of others. It shows what it would delete. It deletes with --yes, or when you type the
cluster's name at a terminal. You can interrupt or kill it at any time and run it again.`,
		Example: `  cluster-init uninstall kubeadm-capo --kubeconfig ./existing.kubeconfig
  cluster-init uninstall kubeadm-capo --kubeconfig ./existing.kubeconfig --yes`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.output.flags(f)
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the existing cluster (required)")
	f.BoolVar(&o.yes, "yes", false, "delete without asking")
	f.DurationVar(&o.timeout, "timeout", 30*time.Minute, "how long to wait until the components are deleted")
	return c
}

func (o *uninstallOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	looking, plan, err := o.planned(ctx, name)
	if err != nil {
		return sink.settled(ctx, "uninstall", name, err)
	}
	return runPhases(ctx, sink, "uninstall", name, func(_ context.Context, leases *lease.Set) (*phaseRun, error) {
		looking.Leases = leases
		message := "The cluster at " + plan.Server + " is as it was before install."
		switch {
		case plan.Nothing:
			message = "The cluster at " + plan.Server + " has no release of " + plan.Cluster + "."
		case len(plan.Stays) > 0:
			message = "The release of " + plan.Cluster + " is removed from the cluster at " + plan.Server + "."
		}
		return &phaseRun{folder: looking.StateFolder, accepted: func() { sink.begin(looking.environment) },
			diagnosis: func() *diagnosis { return diagnosisOf(clusters.New(looking.Subject, looking.Parts)) },
			phases:    o.removal(looking).Phases(),
			outcome:   func() outcome { return outcome{message: message} }}, nil
	}, nil)
}

// planned checks all input, shows the plan and returns it if the user confirms.
func (o *uninstallOptions) planned(ctx context.Context, name string) (*viewed, install.RemovalPlan, error) {
	missing := error(nil)
	if o.kubeconfig == "" {
		missing = fault.New(fault.Usage, "--kubeconfig is missing", "Name the existing cluster: --kubeconfig FILE.")
	}
	looking, _, err := lookingAt(ctx, name, &o.environmentOptions, &pivotClusters{kubeconfig: o.kubeconfig})
	if err := fault.Join(missing, err, checkTimeout("--timeout ", o.timeout)); err != nil {
		return nil, install.RemovalPlan{}, err
	}
	looking.Timeout = o.timeout
	plan, err := o.removal(looking).Plan(ctx)
	if err != nil {
		return nil, plan, err
	}
	if err := o.output.show(o.streams, uninstallLine{"uninstall-plan", plan}); err != nil {
		return nil, plan, err
	}
	if plan.Nothing && plan.Registry == "" {
		return looking, plan, nil
	}
	return looking, plan, confirm(ctx, o.streams, o.yes, plan.Cluster, "what is shown")
}

func (o *uninstallOptions) removal(looking *viewed) *install.Removal {
	return install.NewRemoval(install.RemovalOptions{Subject: looking.Subject, Heartbeat: 15 * time.Second,
		Cleaner: cleanup.Cleaner{Engine: &docker.Client{}, Patience: 3 * time.Minute,
			Target: cleanup.Target{Namespace: looking.Namespace, Cluster: looking.Cluster}}}, looking.Parts)
}

// uninstallLine is the plan that `uninstall` shows first.
type uninstallLine struct {
	Type string `json:"type"`
	install.RemovalPlan
}
