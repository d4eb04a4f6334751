package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/status"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// workloadStatusOptions are the flags of `workload status`.
type workloadStatusOptions struct {
	managed managedBy
	output  outputOptions
	streams Streams
}

func newWorkloadStatus(streams Streams) *cobra.Command {
	o := &workloadStatusOptions{streams: streams}
	c := &cobra.Command{
		Use:   "status NAMESPACE/NAME --in ENVIRONMENT",
		Short: "Show the state of a workload cluster and of its objects",
		Long: `status shows a workload cluster, its release, and its objects in the management cluster. It changes
nothing.

Exit codes:

  - 0: the cluster and its release are ready
  - 32: something cannot be read
  - 50: something has failed, or is paused
  - 80: something is progressing
  - 81: the cluster does not exist`,
		Example: `  cluster-init workload status team-a/shop --in kubeadm-capd
  cluster-init workload status team-a/shop --in kubeadm-capd -o json | jq -r .state`,
		Args: exactlyOne("NAMESPACE/NAME"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.managed.flags(f, o.streams)
	o.output.formatFlag(f, "plain: a table for people; json: one object for programs")
	return c
}

func (o *workloadStatusOptions) run(ctx context.Context, name string) error {
	key, err := workloadKey(name)
	if err := fault.Join(err, o.output.known()); err != nil {
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
	listed, err := o.managed.listed(ctx, looking, management, key)
	if err != nil {
		return err
	}
	report := workloadStatus{Type: "workload-status", SchemaVersion: 1, Listed: listed}
	report.Objects, report.Unknown = status.Objects(ctx, management, key.Namespace, key.Namespace,
		func(u *unstructured.Unstructured) bool { return key.Owns(u) })
	if err := o.output.show(o.streams, report); err != nil {
		return err
	}
	return report.err()
}

// workloadStatus is the output of `workload status`.
type workloadStatus struct {
	Type          string `json:"type"`
	SchemaVersion int    `json:"schemaVersion"`
	workload.Listed
	Objects []status.Object `json:"objects"`
	Unknown []string        `json:"unknown"`
}

// err is the state as an error, with its exit code. It is nil for a cluster that is ready.
func (s workloadStatus) err() error {
	codes := map[workload.State]fault.Code{workload.Progressing: fault.StatusProgressing,
		workload.Deleting: fault.StatusProgressing, workload.Failed: fault.ComponentStuck,
		workload.Paused: fault.ComponentStuck}
	code, unready := codes[s.State]
	switch {
	case len(s.Unknown) > 0:
		code = fault.ClusterUnreachable
	case !unready:
		return nil
	}
	return reportedError{fault.New(code, fmt.Sprintf("workload cluster %s/%s: %s", s.Namespace, s.Name, s.State), "")}
}

// Print writes a table for people.
func (s workloadStatus) Print(out io.Writer) error {
	var b strings.Builder
	oneline.Fprintf(&b, "workload cluster %s/%s: %s\n", s.Namespace, s.Name, s.State)
	if s.Message != "" {
		oneline.Fprintf(&b, "  %s\n", s.Message)
	}
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	oneline.Fprintf(table, "\n  KIND\tNAME\tSTATE\tVERSION\tMESSAGE\n")
	for _, o := range s.Objects {
		oneline.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", o.Kind, o.Name, o.State, o.Version,
			oneline.Ends(o.Message, 80))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print workload cluster %s/%s: %w", s.Namespace, s.Name, err)
	}
	for _, what := range s.Unknown {
		oneline.Fprintf(&b, "\nnot known: %s\n", what)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
