package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// workloadListOptions are the flags of `workload list`.
type workloadListOptions struct {
	managed managedBy
	output  outputOptions
	streams Streams
}

func newWorkloadList(streams Streams) *cobra.Command {
	o := &workloadListOptions{streams: streams}
	c := &cobra.Command{
		Use:   "list --in ENVIRONMENT",
		Short: "List the clusters that a management cluster manages",
		Long: `list shows each Cluster of the management cluster besides its own, and each release of a workload
cluster. It changes nothing.`,
		Example: `  cluster-init workload list --in kubeadm-capd
  cluster-init workload list --in kubeadm-capd -o json | jq -r '.clusters[] | select(.state != "Ready") | .name'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c.Context()) },
	}
	f := c.Flags()
	o.managed.flags(f, o.streams)
	o.output.formatFlag(f, "plain: a table for people; json: one object for programs")
	return c
}

func (o *workloadListOptions) run(ctx context.Context) error {
	if err := o.output.known(); err != nil {
		return err
	}
	looking, err := o.managed.find(ctx)
	if err != nil {
		return err
	}
	management, err := o.managed.connect(ctx, looking)
	if err != nil {
		return err
	}
	list, err := workload.List(ctx, management, workload.Key{Namespace: looking.Namespace, Name: looking.Cluster})
	if err != nil {
		return fmt.Errorf("list the workload clusters of %s: %w", o.managed.in, err)
	}
	return o.output.show(o.streams, workloadList{Type: "workload-clusters", SchemaVersion: 1, Clusters: list})
}

// workloadList is the output of `workload list`.
type workloadList struct {
	Type          string            `json:"type"`
	SchemaVersion int               `json:"schemaVersion"`
	Clusters      []workload.Listed `json:"clusters"`
}

// Print writes a table for people.
func (l workloadList) Print(out io.Writer) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	oneline.Fprintf(table, "NAMESPACE\tNAME\tSTATE\tMADE BY\tMESSAGE\n")
	for _, c := range l.Clusters {
		by := "another owner"
		if c.Release {
			by = "workload apply"
		}
		oneline.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", c.Namespace, c.Name, c.State, by, oneline.Ends(c.Message, 80))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the workload clusters: %w", err)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
