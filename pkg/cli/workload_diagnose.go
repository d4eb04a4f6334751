package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/workload"
)

// workloadDiagnoseOptions are the flags of `workload diagnose`.
type workloadDiagnoseOptions struct {
	managed managedBy
	output  diagnosisOutput
	streams Streams
}

func newWorkloadDiagnose(streams Streams) *cobra.Command {
	o := &workloadDiagnoseOptions{streams: streams}
	c := &cobra.Command{
		Use:   "diagnose NAMESPACE/NAME --in ENVIRONMENT",
		Short: "Find out why a workload cluster does not get ready, and how to fix it",
		Long: `diagnose reads the objects of a workload cluster in the management cluster, what the management
cluster needs to make them, the machines, and the cluster itself. It changes nothing. Like the
command diagnose, it follows each object that is not ready down to the cause, and prints the remedy.
It leaves other workload clusters out.

Exit codes: 0 no cause found; 50 a cause found; 32 the management cluster does not answer;
81 the cluster does not exist.`,
		Example: `  cluster-init workload diagnose team-a/shop --in kubeadm-capd
  cluster-init workload diagnose team-a/shop --in kubeadm-capd -o json | jq -r '.findings[] | .cause, .remedy'`,
		Args: exactlyOne("NAMESPACE/NAME"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.managed.flags(f, o.streams)
	o.output.flags(f)
	return c
}

func (o *workloadDiagnoseOptions) run(ctx context.Context, name string) error {
	key, keyErr := workloadKey(name)
	rules, err := o.output.check()
	if err := fault.Join(keyErr, err); err != nil {
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
	if _, err := o.managed.listed(ctx, looking, management, key); err != nil {
		return err
	}
	report, err := diagnoseWorkload(ctx, looking, management, key, rules...)
	if err != nil {
		return err
	}
	return o.output.report(o.streams, report)
}

// diagnosis returns the diagnosis of a workload cluster, for a run that works on it.
func (m *managedBy) diagnosis(looking *viewed, key workload.Key) *diagnosis {
	return &diagnosis{command: "cluster-init workload diagnose " + key.String() + " --in " + m.in,
		run: func(ctx context.Context) (diagnose.Report, error) {
			// a separate world, because a diagnosis may outlast the wait
			again := &viewed{World: clusters.New(looking.Subject, looking.Parts), environment: looking.environment}
			management, err := m.connect(ctx, again)
			if err != nil {
				return diagnose.Report{}, err
			}
			return diagnoseWorkload(ctx, again, management, key)
		}}
}

func diagnoseWorkload(ctx context.Context, looking *viewed, management *kube.Cluster, key workload.Key,
	more ...diagnose.Rule) (diagnose.Report, error) {
	report, err := diagnose.RunWorkload(ctx, diagnose.Workload{Management: management, Self: looking.Scope,
		Provider: looking.Provider, Secrets: looking.Secrets,
		Scope: clusters.Scope{Namespace: key.Namespace, Cluster: key.Name}, Owns: key.Owns}, more...)
	if err != nil {
		return report, fmt.Errorf("diagnose workload cluster %s: %w", key, err)
	}
	return report, nil
}
