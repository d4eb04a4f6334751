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
		Long: `cleanup finds what an environment left behind by proof of ownership: containers, volumes, networks, images and files
on this machine, and, where its machines are servers of OpenStack, everything of its cluster in that project. It shows the
plan, with the proof for each, and what it leaves alone although it looks alike. It deletes with --yes, or when you type the
cluster's name at a terminal. It can be run any number of times, and killed.

A cluster that manages itself is not deleted without --force NAME. Nor is one that may manage itself: machines of it exist, or
a sign of a pivot, and neither its bootstrap cluster nor its management cluster says that it does not.

Without ENVIRONMENT it lists which clusters have left something, and deletes nothing.`,
		Example: `  cluster-init cleanup kubeadm-capo
  cluster-init cleanup kubeadm-capo --yes --force kubeadm-capo
  cluster-init cleanup --cluster default/a --yes --older-than 6h --force a`,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && o.cluster == "":
				if err := ignored(c, "it needs an ENVIRONMENT or --cluster", "Name what is to be cleaned up: without, "+
					"cleanup only lists what there is.", "yes", "force"); err != nil {
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
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "where the kubeconfig of the management cluster is, when not in the "+
		"state folder here: that cluster is asked whether it manages itself")
	f.BoolVar(&o.yes, "yes", false, "delete what is shown")
	f.StringVar(&o.force, "force", "", "name of the cluster: delete it although it manages itself, or nobody says "+
		"that it does not")
	f.StringVar(&o.engine, "engine-address", "", "where this machine reaches ports that the Docker engine publishes "+
		"(default: the host of DOCKER_HOST)")
	f.BoolVar(&o.allowAdmin, "allow-admin", false, "delete with the credentials of an administrator of the cloud")
	f.DurationVar(&o.olderThan, "older-than", 0, "delete only if everything of the cluster is older than that, and "+
		"all of it is known")
	f.DurationVar(&o.patience, "stall-timeout", 3*time.Minute,
		"how long to go on in the cloud while nothing there goes")
	return c
}

// ignored refuses those of the flags that are given, for one reason.
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

// clean shows the plan and, once the user agrees, deletes what is in it.
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
		Told:     func(r cleanup.Result) { sink.Emit(resultEvent(r)) }}
	if o.olderThan > 0 {
		engine, _ := (&docker.Client{}).Info(ctx) // one that does not answer is said by the plan
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
	plan.Refused = permission.Refused
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

// earlierClock is what time it is, at most: the engine dates its containers by its own clock, which may be behind.
// Zero: it does not say.
func earlierClock(here, engine time.Time) time.Time {
	if !engine.IsZero() && engine.Before(here) {
		return engine
	}
	return here
}

// tooYoung tells, and says, whether --older-than keeps the cluster.
func (o *cleanupOptions) tooYoung(plan cleanup.Plan, madeBefore time.Time) bool {
	if o.olderThan == 0 {
		return false
	}
	reason := plan.TooYoung(madeBefore)
	if _, found := plan.Youngest(); reason == "" && !found {
		reason = "nothing of it says when it was made"
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

// The lines of JSON that are no events, each saying what it is.
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

// show prints what the user asked for, so it goes to Out.
func (o *cleanupOptions) show(what interface{ Print(io.Writer) error }) error {
	return o.output.show(o.streams, what)
}
