package cli

import (
	"context"
	"strconv"
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
		Short: "Delete a living management cluster with its own controllers",
		Long: `down takes a management cluster down in the order in which it was built: it makes a bootstrap cluster again, moves the cluster
definitions back into it, deletes the Cluster there, and waits until its controllers have deleted every machine; then it cleans up what is
left. It can be interrupted or killed at any moment: run it again. Flags of up that you do
not give are as the last up on this machine had them.

It refuses while the cluster manages others, and names them; with --with-workload-clusters it deletes those first, with their machines.
It shows what it would delete, and does so with --yes, or when you type the cluster's name at a terminal.

cleanup deletes what it finds without asking any controller: it is for what is broken.`,
		Example: `  cluster-init down kubeadm-capd
  cluster-init down kubeadm-capo --yes --with-workload-clusters`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.buildOptions.flags(f, o.streams, phasesOfDown())
	o.output.flags(f)
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "where the management cluster's kubeconfig is, when not in the state "+
		"folder")
	f.BoolVar(&o.withWorkloadClusters, "with-workload-clusters", false, "delete the clusters too that it manages")
	f.BoolVar(&o.yes, "yes", false, "delete what is shown")
	f.BoolVar(&o.allowAdmin, "allow-admin", false, "delete with the credentials of an administrator of the cloud")
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
	ctx, release := o.bounded(ctx) // from here on: nobody counts how long a person takes to agree
	defer release()
	return runPhases(ctx, sink, "down", name, func(ctx context.Context, leases *lease.Set) (*phaseRun, error) {
		b := *shown
		b.parts.Leases = leases
		run := o.runOf(&b, s, sink)
		run.Agreed = plan.WorkloadClusters
		phases, err := pipeline.WithBounds(run.Phases(), b.bounds)
		if err != nil {
			return nil, err
		}
		looks := func() *clusters.World { return clusters.New(b.subject, b.parts) }
		return &phaseRun{folder: run.StateFolder, looks: looks, accepted: func() { sink.begin(run.Environment) },
			phases: phases, outcome: func() outcome {
				message := "The management cluster " + plan.Cluster + " is deleted."
				if plan.Nothing {
					message = "Nothing of the management cluster " + plan.Cluster +
						" was found where this run looked, but leftovers at most."
				}
				return outcome{message: message,
					figures: map[string]string{"apiRequests": strconv.FormatInt(run.Requests(), 10)}}
			}}, nil
	}, nil)
}

// planned is what would be deleted, once it was shown and the user wants it.
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
	return shown, s, plan, o.agreed(ctx, plan.Cluster)
}

// runOf is a run of `down` with what the flags come to.
func (o *downOptions) runOf(b *resolved, s subject, sink event.Sink) *down.Run {
	return down.New(down.Options{
		Subject: b.subject, Environment: b.environment, Supplies: b.supplies, WithWorkloadClusters: o.withWorkloadClusters,
		BackupRecipients: b.sealing.recipients, BackupSigner: b.sealing.signer, Version: Version(),
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

// subject is what cleanup deletes at the end.
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

// agreed is nil when the user wants what is shown.
func (o *downOptions) agreed(ctx context.Context, cluster string) error {
	unconfirmed := fault.New(fault.ConfirmationRequired, "nothing was deleted",
		"Run it again with --yes to delete what is shown.")
	switch {
	case o.yes:
		return nil
	case !isTerminal(o.streams.In):
		return unconfirmed
	}
	oneline.Fprintf(o.streams.Err, "Type %s to delete what is shown: ", cluster)
	typed, err := line(ctx, o.streams.In)
	if err == nil && typed != cluster {
		err = unconfirmed
	}
	return err
}

// downLine is what `down` shows before it begins.
type downLine struct {
	Type string `json:"type"`
	down.Plan
}
