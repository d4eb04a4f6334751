package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// pivotRunOptions are the flags and phases of the commands that finish or undo a pivot.
type pivotRunOptions struct {
	environmentOptions
	clusters      pivotClusters
	output        outputOptions
	recipients    recipientOptions
	phaseTimeouts phaseTimeouts
	streams       Streams
	verb          string
	phases        func(*up.Run) []pipeline.Phase
	phaseNames    []string // of phases
	done          func(cluster string) outcome
}

func newPivotResume(streams Streams) *cobra.Command {
	o := &pivotRunOptions{streams: streams, verb: "pivot resume", phases: (*up.Run).ResumePhases,
		phaseNames: []string{"look", "pivot"}, done: func(cluster string) outcome {
			return outcome{message: "The management cluster " + cluster + " holds its own definition."}
		}}
	return o.command(&cobra.Command{
		Use:   "resume ENVIRONMENT",
		Short: "Finish an interrupted pivot, and do nothing else",
		Long: `resume finishes an interrupted pivot, as up does. It works from what both clusters hold, and needs
neither the machine nor the files of the interrupted run. pivot plan shows the steps in advance.

If the two clusters differ in a way that no interrupted pivot leaves, resume changes nothing and
says what to compare.`,
		Example: "  cluster-init pivot plan kubeadm-capd\n  cluster-init pivot resume kubeadm-capd",
	})
}

func newPivotRollback(streams Streams) *cobra.Command {
	o := &pivotRunOptions{streams: streams, verb: "pivot rollback", phases: (*up.Run).RollbackPhases,
		phaseNames: []string{"look", "rollback"}, done: func(cluster string) outcome {
			return outcome{message: "The bootstrap cluster holds the definition of " + cluster +
				" again. Once the management cluster works, run cluster-init up: it pivots again."}
		}}
	return o.command(&cobra.Command{
		Use:   "rollback ENVIRONMENT",
		Short: "Undo a finished pivot, while the bootstrap cluster exists and the management cluster is unhealthy",
		Long: `rollback undoes a finished pivot: it moves the definition from the management cluster back into the
bootstrap cluster. It makes the backup, the verification and the checks of the pivot, except those
for the health of the management cluster.

rollback refuses if the management cluster is healthy and manages itself, or if the pivot is not
finished: then run pivot resume first. If a rollback was interrupted, run it again. up moves the
definition into the management cluster again.`,
		Example: "  cluster-init pivot rollback kubeadm-capd",
	})
}

func (o *pivotRunOptions) command(c *cobra.Command) *cobra.Command {
	c.Args = exactlyOne("ENVIRONMENT")
	c.RunE = func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) }
	f := c.Flags()
	o.appliesNothing = true
	o.environmentOptions.flags(f, o.streams)
	o.clusters.flags(f)
	o.phaseTimeouts.flags(f, o.phaseNames)
	o.output.flags(f)
	o.recipients.flags(f)
	return c
}

func (o *pivotRunOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	return runPhases(ctx, sink, o.verb, name, func(ctx context.Context, leases *lease.Set) (*phaseRun, error) {
		run, found, bounds, err := o.resolve(ctx, name, leases)
		if err != nil {
			return nil, err
		}
		phases, err := pipeline.WithBounds(o.phases(run), bounds)
		if err != nil {
			return nil, err
		}
		return &phaseRun{folder: run.StateFolder, diagnosis: found, accepted: func() { sink.begin(run.Environment) },
			phases:  phases,
			outcome: func() outcome { return o.done(run.Environment.ClusterName()) }}, nil
	}, nil)
}

// resolve checks all input, before anything is changed. It returns the run, how to observe the same clusters, and the
// bounds of phases.
func (o *pivotRunOptions) resolve(ctx context.Context, name string, leases *lease.Set) (*up.Run, func() *diagnosis,
	map[string]time.Duration, error) {
	env, err := o.load(ctx, name, func(env *environment.Environment) error {
		return checkKubeconfig(o.clusters.kubeconfig, env.ClusterName())
	})
	sealing, sealingErr := o.recipients.parse()
	bounds, boundsErr := o.phaseTimeouts.parse()
	if err := fault.Join(err, sealingErr, boundsErr, o.clusters.check()); err != nil {
		return nil, nil, nil, err
	}
	subject, err := o.clusters.subject(env)
	if err != nil {
		return nil, nil, nil, err
	}
	engine := &docker.Client{}
	makes, err := known.Of(env, engine)
	if err != nil {
		return nil, nil, nil, err
	}
	parts := clusters.Parts{Docker: engine, Provider: makes, Leases: leases, Now: time.Now,
		Kind: kind.New(func(string) {})}
	found := func() *diagnosis { return diagnosisOf(clusters.New(subject, parts)) }
	return up.New(up.Options{Subject: subject, Environment: env, BackupRecipients: sealing.recipients,
		BackupSigner: sealing.signer, Version: Version()}, parts), found, bounds, nil
}
