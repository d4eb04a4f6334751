package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/drift"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/source/content"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// diffOptions are the flags of `diff`.
type diffOptions struct {
	environmentOptions
	content  contentOptions
	clusters pivotClusters
	applied  applyOptions
	format   string
	exitCode bool
	timeout  time.Duration
	streams  Streams
}

func newDiff(streams Streams) *cobra.Command {
	o := &diffOptions{streams: streams}
	c := &cobra.Command{
		Use:   "diff ENVIRONMENT",
		Short: "Show how existing clusters differ from what up would apply",
		Long: `diff compares an environment with its clusters: the values, the objects of the chart, and what Flux
would apply for each component. It uses server-side dry runs, so that defaults and webhooks count.
diff changes nothing.

Where you do not give --values, --set, --bundle or --registry-mirror, diff takes those of the last
up on this machine. If the cluster reads a repository, give --content a checkout of it.

Secrets are masked. If something could not be compared, diff names it and exits with 32.`,
		Example: `  cluster-init diff kubeadm-capd
  cluster-init diff ./edge-site --content ./platform --set cluster.worker.replicas=3
  cluster-init diff kubeadm-capd --exit-code -o json | jq -r '.clusters[].parts[] | select(.objects != []) | .name'`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.content.flags(f)
	o.clusters.flags(f)
	choose(f, &o.format, "output", "o", "plain: for people; json or yaml: one document for programs", "plain", "json",
		"yaml")
	o.applied.flags(f, "folder of an offline bundle: use its values and its release files")
	f.DurationVar(&o.timeout, "timeout", 10*time.Minute, "timeout of the comparison (10s to 24h)")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with 85 if something differs")
	return c
}

func (o *diffOptions) run(ctx context.Context, name string) error {
	formats := map[string]func(drift.Report) error{
		"plain": func(r drift.Report) error { return r.Print(o.streams.Out) },
		"json":  func(r drift.Report) error { return oneline.WriteJSON(o.streams.Out, r, "") },
		"yaml":  func(r drift.Report) error { return encodeYAML(o.streams.Out, r) },
	}
	show := formats[o.format]
	if show == nil {
		return fault.New(fault.Usage, fmt.Sprintf("--output %q is not known", o.format), "Use plain, json or yaml.")
	}
	var err error
	if o.fsys, err = o.content.of(); err != nil {
		return err
	}
	looking, lacks, err := lookingAt(ctx, name, &o.environmentOptions, &o.clusters)
	// unknown values cannot be compared
	if err := fault.Join(checkTimeout("--timeout ", o.timeout), lacks, err); err != nil {
		return err
	}
	looking.Timeout = boundedBy(o.timeout)
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	comparison, options, err := o.comparison(looking.environment)
	if err != nil {
		return err
	}
	seen := looking.up().Observe(ctx)
	if seen.Bootstrap.Cluster != nil || seen.Management.Cluster != nil {
		if comparison.Tree, err = options.Tree(ctx); err != nil {
			return cmp.Or(late(whole, ctx, "the comparison", o.timeout), err)
		}
	}
	report, err := compare(ctx, seen, comparison)
	if err != nil {
		return err
	}
	if err := show(report); err != nil {
		return fmt.Errorf("print the differences: %w", err)
	}
	if err := cmp.Or(late(whole, ctx, "the comparison", o.timeout), report.Err()); err != nil {
		return err
	}
	if o.exitCode && report.Differs() {
		// the report already shows it
		return reportedError{fault.New(fault.Differs, "the clusters differ from what up would apply",
			"Run cluster-init up to apply it.")}
	}
	return nil
}

// comparison returns what up would apply with the same flags, and the options for the content of components.
func (o *diffOptions) comparison(env *environment.Environment) (drift.Comparison, content.PublishOptions, error) {
	env, opened, err := o.applied.of(env)
	if err != nil {
		return drift.Comparison{}, content.PublishOptions{}, err
	}
	env, options, err := o.content.publishOptions(env, o.fsys, opened)
	return drift.Comparison{Environment: env, Known: knownSecrets(env)}, options, err
}

// compare compares the observed clusters. The report names those that do not answer.
func compare(ctx context.Context, seen up.Outlook, c drift.Comparison) (drift.Report, error) {
	report := drift.New(c.Environment.Name())
	for _, err := range []error{seen.Bootstrap.Err, seen.Management.Err} {
		if fault.CodeOf(err) == fault.ClusterForeign {
			return report, err
		}
	}
	unseen := seen.Bootstrap.Cluster == nil && seen.Management.Cluster == nil && seen.Bootstrap.Err == nil &&
		seen.Management.Err == nil
	// machines without a known cluster, or it is not known whether machines exist
	if unseen && seen.Refusal != nil {
		return report, seen.Refusal
	}
	if errors.Is(seen.MachinesErr, provider.ErrNotSupported) && seen.Management.Cluster == nil {
		report.Note = "Not checked: whether machines exist (not supported)."
	}
	c.Management, c.ManagementErr = seen.Management.Cluster, seen.Management.Err
	bootstrap := drift.Cluster{Name: clusters.BootstrapName, Phase: environment.Bootstrap, Parts: []drift.Part{}}
	switch in := seen.Bootstrap.Cluster; {
	case seen.Bootstrap.Err != nil:
		bootstrap.Error = seen.Bootstrap.Err.Error()
		report.Clusters = append(report.Clusters, bootstrap)
	case seen.Bootstrap.State == clusters.BootstrapStopped:
		bootstrap.Error = "it is stopped: cluster-init up starts it again"
		report.Clusters = append(report.Clusters, bootstrap)
	case in != nil && seen.Bootstrap.Suspended:
		bootstrap.Server, bootstrap.Note = in.Config.Host,
			"its Flux is suspended for the pivot, so nothing is applied to it"
		report.Clusters = append(report.Clusters, bootstrap)
	case in != nil:
		report.Clusters = append(report.Clusters, c.Compare(ctx, in, environment.Bootstrap))
	}
	switch in := seen.Management.Cluster; {
	case seen.Management.Err != nil:
		report.Clusters = append(report.Clusters, drift.Cluster{Name: clusters.ManagementName,
			Phase: environment.Management, Parts: []drift.Part{}, Error: seen.Management.Err.Error()})
	case in != nil:
		report.Clusters = append(report.Clusters, c.Compare(ctx, in, environment.Management))
	}
	return report, nil
}
