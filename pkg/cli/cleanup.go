package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

type cleanupOptions struct {
	environmentOptions
	output     outputOptions
	cluster    string
	kubeconfig string
	yes        bool
	force      string
	allowAdmin bool
	engine     string // address
	olderThan  time.Duration
	patience   time.Duration
	streams    Streams
}

func newCleanup(streams Streams) *cobra.Command {
	o := &cleanupOptions{streams: streams}
	c := &cobra.Command{
		Use:   "cleanup [ENVIRONMENT]",
		Short: "Show what an environment left behind, and delete it with --yes",
		Long: `cleanup finds what an environment left behind, with proof that it belongs to the environment:

  - on this machine: containers, volumes, networks, images and files
  - in OpenStack, if the machines are OpenStack servers: all its resources in the project

cleanup shows the plan with the proof for each resource. It also shows what it keeps although it
looks similar. It deletes with --yes, or when you type the cluster's name at a terminal. You can
interrupt or kill it at any time and run it again.

cleanup deletes these clusters only with --force NAME:

  - a cluster that manages itself
  - a cluster that may manage itself: it has machines or traces of a pivot, and neither the
    bootstrap cluster nor the management cluster confirms that it does not manage itself

Without ENVIRONMENT, cleanup lists the clusters that left something behind and deletes nothing.`,
		Example: `  cluster-init cleanup kubeadm-capo
  cluster-init cleanup kubeadm-capo --yes --force kubeadm-capo
  cluster-init cleanup --cluster default/a --yes --older-than 6h --force a`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && o.cluster == "":
				if err := ignored(c, "it needs an ENVIRONMENT or --cluster",
					"Give an ENVIRONMENT or --cluster: without "+
						"them, cleanup only lists.", "yes", "force"); err != nil {
					return err
				}
				return o.survey(c.Context())
			case len(args) == 0:
				if err := ignored(c, "--cluster takes no values", "Leave it out, or name an ENVIRONMENT.", "values",
					"set"); err != nil {
					return err
				}
				return o.run(c.Context(), "")
			case len(args) > 1 || o.cluster != "":
				return fault.New(fault.Usage, "more than one thing to clean up",
					"Give either an environment or --cluster NAMESPACE/NAME.")
			}
			return o.run(c.Context(), args[0])
		},
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	overriddenBy(f, []string{"cluster"}, "values", "set")
	o.output.flags(f)
	f.StringVar(&o.cluster, "cluster", "", "NAMESPACE/NAME of a cluster instead of an environment")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster, to check whether it manages "+
		"itself (default: the one in the state folder)")
	f.BoolVar(&o.yes, "yes", false, "delete what is shown")
	f.StringVar(&o.force, "force", "", "name of the cluster: delete it although it manages itself, or may do so")
	f.StringVar(&o.engine, "engine-address", "", "host name or IP address where this machine reaches published "+
		"ports of the Docker engine (default: the host of DOCKER_HOST)")
	f.BoolVar(&o.allowAdmin, "allow-admin", false, "allow the credentials of an administrator of the cloud")
	f.DurationVar(&o.olderThan, "older-than", 0, "delete only if all resources of the cluster are known and older "+
		"than this")
	f.DurationVar(&o.patience, "stall-timeout", 3*time.Minute,
		"stop if nothing in the cloud was deleted for this long")
	return c
}

// ignored refuses the given ones among these flags.
func ignored(c *cobra.Command, why, hint string, flags ...string) error {
	var problems []error
	for _, flag := range flags {
		if isGiven(c, flag) {
			problems = append(problems, fault.New(fault.Usage, "--"+flag+" is given, and "+why, hint))
		}
	}
	return fault.Join(problems...)
}

func (o *cleanupOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	return sink.settled(ctx, "cleanup", cmp.Or(name, o.cluster), o.clean(ctx, name, sink))
}

// clean shows the plan, and deletes its resources if the user agrees.
func (o *cleanupOptions) clean(ctx context.Context, name string, sink *reporter) error {
	if o.olderThan < 0 || o.patience <= 0 {
		return fault.New(fault.Usage, fmt.Sprintf("--older-than %s or --stall-timeout %s is out of range", o.olderThan,
			o.patience), "Give durations above zero, for example 6h and 3m.")
	}
	s, err := o.subject(ctx, name)
	if err != nil {
		return err
	}
	if o.force != "" && o.force != s.target.Cluster {
		return fault.New(fault.CleanupRefused, fmt.Sprintf("--force %s is not the name of the cluster, which is %s",
			o.force, s.target.Cluster), "")
	}
	held, err := hold(s.state, "cleanup "+s.name)
	if err != nil {
		return err
	}
	defer held.Release() // an error leaves an unlocked file, which the next run takes over
	cleaner := cleanup.Cleaner{Engine: &docker.Client{}, Cloud: s.cloud, Target: s.target, Forced: o.force != "",
		Patience: o.patience,
		OnResult: func(r cleanup.Result) { sink.Emit(resultEvent(r)) }}
	if o.olderThan > 0 {
		engine, _ := (&docker.Client{}).Info(ctx) // the plan reports an engine that does not answer
		cleaner.MadeBefore = earlierClock(time.Now(), engine.Time).Add(-o.olderThan)
	}
	plan, err := cleaner.Plan(ctx)
	if err != nil {
		return err
	}
	permission, err := o.ask(ctx, s, plan)
	if err != nil {
		return err
	}
	if permission.Refused {
		plan.Refused = permission.Reason
	}
	if err := o.show(planLine{"cleanup-plan", plan}); err != nil {
		return err
	}
	if plan.Empty() || o.tooYoung(plan, cleaner.MadeBefore) {
		return nil
	}
	if err := o.agreed(ctx, s, plan, permission); err != nil {
		return err
	}
	leased, leases := lease.NewSet(ctx)
	defer leases.ReleaseAll()
	cleaner.Leases = leases
	if plan, err = cleaner.Claim(leased, o.observer(s), plan); err != nil {
		return err
	}
	if !plan.Empty() && o.tooYoung(plan, cleaner.MadeBefore) {
		return nil
	}
	var receipt cleanup.Receipt
	err = report(ctx, sink, "cleanup", s.name, func(context.Context) (outcome, error) {
		sink.begin(nil)
		var err error
		receipt, err = cleaner.Run(leased, plan)
		return outcome{}, err
	}, nil)
	if written := o.show(receiptLine{"cleanup-receipt", receipt}); err == nil {
		err = written
	}
	return err
}

// earlierClock returns the earlier of two clocks: the engine dates containers by its own clock, which may be behind. A
// zero engine time is not known.
func earlierClock(here, engine time.Time) time.Time {
	if !engine.IsZero() && engine.Before(here) {
		return engine
	}
	return here
}

// tooYoung reports whether --older-than keeps the cluster, and prints why.
func (o *cleanupOptions) tooYoung(plan cleanup.Plan, madeBefore time.Time) bool {
	if o.olderThan == 0 {
		return false
	}
	reason := plan.TooYoung(madeBefore)
	if _, found := plan.Youngest(); reason == "" && !found {
		reason = "the age of its resources is not known"
	}
	if reason == "" {
		return false
	}
	oneline.Fprintf(o.streams.Err, "%s is kept, as --older-than is %s: %s\n", plan.Cluster, o.olderThan, reason)
	return true
}

func resultEvent(r cleanup.Result) event.Event {
	return event.Event{Time: time.Now(), Type: event.Progress, Message: r.String()}
}

// The JSON lines that are not events. Each has its type.
type (
	planLine struct {
		Type string `json:"type"`
		cleanup.Plan
	}
	receiptLine struct {
		Type string `json:"type"`
		cleanup.Receipt
	}
)

// show prints to Out, because it is what the user asked for.
func (o *cleanupOptions) show(what interface{ Print(io.Writer) error }) error {
	return o.output.show(o.streams, what)
}
