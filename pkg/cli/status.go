package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/benchmark"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/status"
)

// statusOptions are the flags of `status`.
type statusOptions struct {
	environmentOptions
	clusters pivotClusters
	applied  applyOptions
	format   string
	watch    bool
	timeout  time.Duration
	streams  Streams
}

func newStatus(streams Streams) *cobra.Command {
	o := &statusOptions{streams: streams}
	c := &cobra.Command{
		Use:   "status [ENVIRONMENT]",
		Short: "Show the progress of an environment and the state of its objects",
		Long: `status shows the state of both clusters and of the machines of an environment, and changes nothing.
It works on any machine that has the kubeconfig of the management cluster. Without ENVIRONMENT it
uses the only environment that has runs of up kept on this machine.

status also shows which values of the environment differ from those that were last applied to the
cluster. Where you do not give a flag of up, status takes that of the last up on this machine.

Exit codes:

  - 0: the management cluster manages itself, and everything is ready
  - 32: something does not answer
  - 50: something is stuck
  - 80: something is progressing
  - 81: nothing of the environment exists
  - 82: a pivot was interrupted, or a cluster not managed by cluster-init has this name`,
		Example: `  cluster-init status kubeadm-capd
  cluster-init status kubeadm-capd --watch
  cluster-init status kubeadm-capd -o json | jq -r '.management.objects[] | select(.state != "Ready") | .name'`,
		Args: oneOrDefault,
		RunE: withUsual(o.run),
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.clusters.flags(f)
	o.applied.flags(f, "folder of an offline bundle: use its values")
	choose(f, &o.format, "output", "o", "plain, or table: for people; wide: with all messages; json or yaml: one "+
		"document for programs", "plain", "table", "wide", "json", "yaml")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "timeout of one observation (10s to 24h); half of it is for "+
		"the inventory of a cloud")
	f.BoolVarP(&o.watch, "watch", "w", false, "keep running, and print a line for each change until Ctrl-C")
	return c
}

func (o *statusOptions) run(ctx context.Context, name string) error {
	formats := map[string]func(status.Report) error{
		"plain": func(r status.Report) error { return r.Print(o.streams.Out) },
		"table": func(r status.Report) error { return r.Print(o.streams.Out) },
		"wide":  func(r status.Report) error { return status.Wide{Report: r}.Print(o.streams.Out) },
		"json":  func(r status.Report) error { return oneline.WriteJSON(o.streams.Out, r, "") },
		"yaml":  func(r status.Report) error { return encodeYAML(o.streams.Out, r) },
	}
	show := formats[o.format]
	if show == nil {
		return fault.New(fault.Usage, fmt.Sprintf("--output %q is not known", o.format),
			"Use plain, wide, json or yaml.")
	}
	if o.watch && o.format == "yaml" {
		return fault.New(fault.Usage, "--watch has no form in YAML", "Use plain, wide or json.")
	}
	looking, lacks, err := lookingAt(ctx, name, &o.environmentOptions, &o.clusters)
	if err := fault.Join(checkTimeout("--timeout ", o.timeout), err); err != nil {
		return err
	}
	looking.Timeout = boundedBy(o.timeout)
	applied, _, err := o.applied.of(looking.environment)
	if err != nil {
		return err
	}
	if lacks == nil {
		looking.use(applied)
	}
	run := looking.up()
	diagnosed := diagnosedStatus{run: run, world: looking.World, lacks: lacks}
	if lacks == nil {
		diagnosed.profile = benchmark.Profile(applied.Spec().Cluster.SecurityProfile)
	}
	report, tooLate := o.look(ctx, &diagnosed)
	if err := show(report); err != nil {
		return fmt.Errorf("print the status: %w", err)
	}
	if o.watch {
		return o.follow(ctx, &diagnosed, report, show)
	}
	if tooLate != nil {
		return tooLate
	}
	if err := report.Err(); err != nil {
		return reportedError{err} // the report already shows it
	}
	return nil
}

// look observes once, for at most --timeout. The report lists what has not answered by then.
func (o *statusOptions) look(ctx context.Context, diagnosed *diagnosedStatus) (status.Report, error) {
	bounded, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	report := diagnosed.look(bounded)
	return report, late(ctx, bounded, "the status", o.timeout)
}

// boundedBy returns the Timeout of a world that lists the machines of a cloud for half of an observation's time, within
// 30s to 4m.
func boundedBy(observation time.Duration) time.Duration { return 30 * observation }

// late is the error of an observation that timed out. It is nil if the caller has ended it.
func late(ctx, bounded context.Context, what string, bound time.Duration) error {
	if ctx.Err() != nil || bounded.Err() == nil {
		return nil
	}
	return fault.Retryable(fmt.Errorf("%s is not complete within --timeout %s", what, bound), fault.Timeout,
		"Run the same command again with a longer --timeout.")
}

// watchPause is the interval of --watch.
const watchPause = 3 * time.Second

// follow prints changes until ctx ends, or printing fails.
func (o *statusOptions) follow(ctx context.Context, diagnosed *diagnosedStatus, last status.Report,
	show func(status.Report) error) error {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // ended by Ctrl-C
		case <-tick.C:
		}
		report, _ := o.look(ctx, diagnosed) // the report shows what is late
		if ctx.Err() != nil {
			return nil
		}
		changes := report.Changes(last, time.Now())
		if last = report; len(changes) == 0 {
			continue
		}
		if o.format == "json" {
			if err := show(report); err != nil {
				return fmt.Errorf("print the status: %w", err)
			}
			continue
		}
		for _, line := range changes {
			if _, err := fmt.Fprintln(o.streams.Out, line); err != nil {
				return fmt.Errorf("print the status: %w", err)
			}
		}
	}
}

func encodeYAML(out io.Writer, v any) error {
	content, err := yaml.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return err
}
