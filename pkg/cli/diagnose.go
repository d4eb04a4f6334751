package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// diagnoseOptions are the flags of `diagnose`.
type diagnoseOptions struct {
	environmentOptions
	clusters pivotClusters
	output   outputOptions
	streams  Streams
}

func newDiagnose(streams Streams) *cobra.Command {
	o := &diagnoseOptions{streams: streams}
	c := &cobra.Command{
		Use:   "diagnose ENVIRONMENT",
		Short: "Say why a management cluster does not get ready, and what to do about it",
		Long: `diagnose looks at the bootstrap cluster, the management cluster and the machines, and changes nothing. From what is not ready it goes down to
what that waits for: from a Kustomization to its source, its HelmRelease, the workload, the Pod and its containers, from a Cluster to its machines and what makes
them. It prints the cause at the bottom with its cure, how sure that is, the way down, and what it could not look at.

It can be run at any time, beside a run of up too. It exits with 0 when no cause was found, with 50 when there is one, and with 32 when
no cluster answers.`,
		Example: `  cluster-init diagnose kubeadm-capd
  cluster-init diagnose kubeadm-capo -o json | jq -r '.findings[] | .cause, .cure'`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams.In)
	o.output.formatFlag(f, "plain: for people; json: one document for programs")
	o.clusters.flags(f)
	return c
}

func (o *diagnoseOptions) run(ctx context.Context, name string) error {
	if err := o.output.known(); err != nil {
		return err
	}
	looking, err := lookingAt(ctx, name, &o.environmentOptions, &o.clusters)
	if err != nil {
		return err
	}
	report, err := diagnose.Run(ctx, looking)
	if err != nil {
		return fmt.Errorf("diagnose %s: %w", name, err)
	}
	if err := o.output.show(o.streams, report); err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		if o.output.format == "plain" && fault.CodeOf(err) == fault.ComponentStuck {
			return told{err} // the report has said it
		}
		return err
	}
	return nil
}
