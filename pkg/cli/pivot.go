package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/up"
)

func newPivot(streams Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "pivot",
		Short: "Inspect, finish or undo the pivot: the move of the definitions into the management cluster",
		Example: `  cluster-init pivot plan kubeadm-capd
  cluster-init pivot resume kubeadm-capd
  cluster-init pivot rollback kubeadm-capd`,
		RunE: onlyCommands,
	}
	c.AddCommand(aboutBuilt(newPivotPlan(streams)), aboutBuilt(newPivotResume(streams)),
		aboutBuilt(newPivotRollback(streams)))
	return c
}

// pivotPlanOptions are the flags of `pivot plan`.
type pivotPlanOptions struct {
	environmentOptions
	clusters pivotClusters
	output   outputOptions
	streams  Streams
}

func newPivotPlan(streams Streams) *cobra.Command {
	o := &pivotPlanOptions{streams: streams}
	c := &cobra.Command{
		Use:   "plan ENVIRONMENT",
		Short: "Show what a pivot would move and leave behind, and change nothing",
		Long: `plan shows what a pivot would do, and changes nothing:

  - the objects that would move, below their owners, in the order of creation
  - the objects that would be left behind, with the reason and the remedy
  - every reason why a move must not start

plan makes all checks of the real move on both clusters, and stores nothing in either. If an earlier
move was interrupted, plan shows how far it got and the steps that finish it.

Exit codes: 0 a move may start, or is finished; 60 a move must not start; 32 a cluster does not
answer.`,
		Example: `  cluster-init pivot plan kubeadm-capd
  cluster-init pivot plan kubeadm-capd -o json | jq '.refusals'`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.output.formatFlag(f, "plain: for people; json: one document for programs")
	o.clusters.flags(f)
	return c
}

func (o *pivotPlanOptions) run(ctx context.Context, name string) error {
	if err := o.output.known(); err != nil {
		return err
	}
	run, err := o.resolve(ctx, name)
	if err != nil {
		return err
	}
	preview, err := run.PreviewPivot(ctx)
	if err != nil {
		return err
	}
	if o.output.format == "json" {
		err = oneline.WriteJSON(o.streams.Out, preview.Document(run.Environment.Name()), "  ")
	} else {
		err = preview.Print(o.streams.Out)
	}
	if err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	return preview.Err(run.Environment.Name())
}

// resolve checks all input, and returns a run that only observes.
func (o *pivotPlanOptions) resolve(ctx context.Context, name string) (*up.Run, error) {
	looking, _, err := lookingAt(ctx, name, &o.environmentOptions, &o.clusters)
	if err != nil {
		return nil, err
	}
	return looking.up(), nil
}
