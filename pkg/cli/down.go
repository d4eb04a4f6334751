package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/down"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// downOptions are the flags of `down`.
type downOptions struct {
	buildOptions
	output               outputOptions
	withWorkloadClusters bool
	yes                  bool
	allowAdmin           bool
	streams              Streams
}

func newDown(streams Streams) *cobra.Command {
	o := &downOptions{streams: streams}
	o.appliesNothing = true
	o.readsKubeconfig = true
	c := &cobra.Command{
		Use:   "down ENVIRONMENT",
		Short: "Delete a working management cluster with its own controllers",
		Long: `down deletes a management cluster in the reverse order of its construction:

  1. It creates a bootstrap cluster.
  2. It moves the cluster definitions back into the bootstrap cluster.
  3. It deletes the Cluster there, and waits until the controllers have deleted every machine.
  4. It cleans up what is left.

You can interrupt or kill it at any time and run it again. Where you do not give a flag of up, down
takes that of the last up on this machine. It never takes --set cluster.name and --set
cluster.namespace: give them again, or down means another cluster.

down refuses while the cluster manages other clusters, and names them. With
--with-workload-clusters it deletes those first, with their machines. down shows what it would
delete. It deletes with --yes, or when you type the cluster's name at a terminal.

For a broken cluster use cleanup: it deletes what it finds without any controller.`,
		Example: `  cluster-init down kubeadm-capd
  cluster-init down kubeadm-capo --yes --with-workload-clusters`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.buildOptions.flags(f, o.streams, down.PhaseNames())
	o.output.flags(f)
	f.StringVar(&o.kubeconfig, "kubeconfig", "",
		"kubeconfig of the management cluster (default: the one in the state folder)")
	f.BoolVar(&o.withWorkloadClusters, "with-workload-clusters", false, "also delete the clusters that it manages")
	f.BoolVar(&o.yes, "yes", false, "delete what is shown")
	f.BoolVar(&o.allowAdmin, "allow-admin", false, "allow the credentials of an administrator of the cloud")
	return c
}

func (o *downOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	shown, s, plan, err := o.planned(ctx, name, sink)
	if err != nil {
		return sink.settled(ctx, "down", name, err)
	}
	ctx, release := o.bounded(ctx) // starts here, so that the time to confirm does not count
	defer release()
	return runPhases(ctx, sink, "down", name, func(_ context.Context, leases *lease.Set) (*phaseRun, error) {
		b := *shown
		b.parts.Leases = leases
		run := o.runOf(&b, s, sink)
		run.ConfirmedWorkloadClusters = plan.WorkloadClusters
		phases, err := pipeline.WithBounds(run.Phases(), b.bounds)
		if err != nil {
			return nil, err
		}
		found := func() *diagnosis { return diagnosisOf(clusters.New(b.subject, b.parts)) }
		return &phaseRun{folder: run.StateFolder, diagnosis: found, accepted: func() { sink.begin(run.Environment) },
			phases: phases, outcome: func() outcome {
				message := "The management cluster " + plan.Cluster + " is deleted."
				switch {
				case plan.Nothing:
					message = "The management cluster " + plan.Cluster +
						" was not found; leftovers, if any, are deleted."
				case plan.Gone:
					message = "The management cluster " + plan.Cluster + " was not found; deleted: " +
						strings.Join(plan.WorkloadClusters, ", ") + ", and leftovers, if any."
				}
				return outcome{message: message,
					figures: map[string]string{"apiRequests": strconv.FormatInt(run.Requests(), 10)}}
			}}, nil
	}, nil)
}

// planned shows the plan and returns it if the user confirms.
func (o *downOptions) planned(ctx context.Context, name string, sink event.Sink) (*resolved, subject, down.Plan,
	error) {
	shown, err := o.resolve(ctx, name, sink, nil)
	if err != nil {
		return nil, subject{}, down.Plan{}, err
	}
	s, err := o.subject(ctx, name, shown)
	if err != nil {
		return nil, subject{}, down.Plan{}, err
	}
	plan, err := o.runOf(shown, s, sink).Plan(ctx)
	if err != nil {
		return nil, subject{}, down.Plan{}, err
	}
	if err := o.output.show(o.streams, downLine{"down-plan", plan}); err != nil {
		return nil, subject{}, down.Plan{}, err
	}
	return shown, s, plan, confirm(ctx, o.streams, o.yes, plan.Cluster, "what is shown")
}

// runOf returns the run of `down` for the resolved flags.
func (o *downOptions) runOf(b *resolved, s subject, sink event.Sink) *down.Run {
	return down.New(down.Options{
		Subject: b.subject, Environment: b.environment, Supplies: b.supplies,
		WithWorkloadClusters: o.withWorkloadClusters,
		WorkloadProvider:     providerOfWorkload(b.environment, &docker.Client{}),
		BackupRecipients:     b.sealing.recipients, BackupSigner: b.sealing.signer, Version: Version(),
		Heartbeat: 15 * time.Second,
		Cleaner: cleanup.Cleaner{Engine: &docker.Client{}, Cloud: s.cloud, Target: s.target,
			Patience: 3 * time.Minute},
		Observer: cleanup.Observer{Engine: &docker.Client{}, EngineAddress: o.engineAddress, Target: s.target,
			StateFolder: s.state, Kubeconfig: o.kubeconfig,
			Waiting: func(what string) {
				sink.Emit(event.Event{Time: time.Now(), Type: event.Progress, Message: "waiting to see " + what})
			}},
	}, b.parts)
}

// subject returns the target of the final cleanup. It refuses an administrator without --allow-admin.
func (o *downOptions) subject(ctx context.Context, name string, b *resolved) (subject, error) {
	env := b.environment
	s := subject{name: name, state: b.subject.StateFolder,
		target: cleanup.Target{Namespace: env.ClusterNamespace(), Cluster: env.ClusterName(),
			Files: []string{b.subject.StateFolder}}}
	if err := s.lookInto(ctx, env); err != nil {
		return s, err
	}
	if isAdmin(s.cloud) && !o.allowAdmin {
		return s, fault.New(fault.CleanupRefused, "the credentials are those of an administrator of the cloud: "+
			"nothing was deleted",
			"Use those of a member of the project, or add --allow-admin.")
	}
	return s, nil
}

// confirm returns nil if the user agrees to a deletion: by --yes, or by typing the cluster's name at a terminal.
func confirm(ctx context.Context, streams Streams, yes bool, cluster, what string) error {
	unconfirmed := fault.New(fault.ConfirmationRequired, "nothing was deleted", "Run it again with --yes to delete "+
		what+".")
	switch {
	case yes:
		return nil
	case !isTerminal(streams.In):
		return unconfirmed
	}
	oneline.Fprintf(streams.Err, "Type %s to delete %s: ", cluster, what)
	typed, err := line(ctx, streams.In)
	if err == nil && typed != cluster {
		err = unconfirmed
	}
	return err
}

// downLine is the plan that `down` shows first.
type downLine struct {
	Type string `json:"type"`
	down.Plan
}
