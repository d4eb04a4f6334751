package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/evidence"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// diagnoseOptions are the flags of `diagnose`.
type diagnoseOptions struct {
	environmentOptions
	clusters       pivotClusters
	output         diagnosisOutput
	from, identity string
	more           []diagnose.Rule // from the folder of --rules
	streams        Streams
}

func newDiagnose(streams Streams) *cobra.Command {
	o := &diagnoseOptions{streams: streams}
	c := &cobra.Command{
		Use:   "diagnose ENVIRONMENT | diagnose --from FILE",
		Short: "Find out why a management cluster does not get ready, and how to fix it",
		Long: `diagnose finds out why a management cluster does not get ready. It reads the bootstrap cluster, the
management cluster and the machines, and changes nothing. It starts at an object that is not ready
and follows what that object waits for, down to the cause:

  - from a Kustomization to its source, its HelmRelease, the workload, the Pod and its containers
  - from a Cluster to its machines and to the objects that create them

For each cause it prints the remedy, the confidence and the path to the cause. It also names what
it could not check. You can run diagnose at any time, also while up is running.

With --from, diagnose reads only a file that cluster-init collect wrote.

Exit codes: 0 no cause found; 50 a cause found; 32 no cluster answers.`,
		Example: `  cluster-init diagnose kubeadm-capd
  cluster-init diagnose kubeadm-capo -o json | jq -r '.findings[] | .cause, .remedy'
  cluster-init diagnose --from ./cluster-init-kubeadm-capd.tar.zst`,
		Args: cobra.ArbitraryArgs, // environment variables set flags only when it runs
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.args(c, args); err != nil {
				return err
			}
			return o.run(c.Context(), args)
		},
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.output.flags(f)
	o.clusters.flags(f)
	f.StringVar(&o.from, "from", "", "file that collect wrote, to read instead of clusters")
	f.StringVar(&o.identity, "identity", "", "file with the private key of age or ssh that decrypts the file of --from")
	overriddenBy(f, []string{"from"}, ofClusters()...)
	overriddenBy(f, append(ofClusters(), anArgument), "from", "identity")
	return c
}

func (o *diagnoseOptions) run(ctx context.Context, args []string) error {
	var err error
	if o.more, err = o.output.check(); err != nil {
		return err
	}
	report, err := o.report(ctx, args)
	if err != nil {
		return err
	}
	return o.output.report(o.streams, report)
}

// report diagnoses the clusters, or the case in a collected file.
func (o *diagnoseOptions) report(ctx context.Context, args []string) (diagnose.Report, error) {
	if o.from != "" {
		return o.collected()
	}
	if o.identity != "" {
		return diagnose.Report{}, fault.New(fault.Usage, "--identity opens a file of --from, and none is given",
			"Add --from FILE, or leave --identity out.")
	}
	looking, _, err := lookingAt(ctx, args[0], &o.environmentOptions, &o.clusters)
	if err != nil {
		return diagnose.Report{}, err
	}
	report, err := diagnose.Run(ctx, looking.World, o.more...)
	if err != nil {
		return report, fmt.Errorf("diagnose %s: %w", args[0], err)
	}
	return report, nil
}

// collected diagnoses the case in a file that collect wrote.
func (o *diagnoseOptions) collected() (diagnose.Report, error) {
	const hint = "Name a file that cluster-init collect wrote."
	file, err := os.Open(o.from)
	if err != nil {
		return diagnose.Report{}, fault.Wrap(fmt.Errorf("read --from: %w", err), fault.Usage, hint)
	}
	defer file.Close()
	plain, err := o.opened(file)
	if err != nil {
		return diagnose.Report{}, err
	}
	content, err := evidence.Unpack(plain, evidence.CaseName)
	if errors.Is(err, fs.ErrNotExist) {
		return diagnose.Report{}, fault.Wrap(fmt.Errorf("read %s: %w", o.from, err), fault.Usage,
			"Read summary.txt in the file: it says why the data for a diagnosis is missing.")
	}
	if err != nil {
		return diagnose.Report{}, fault.Wrap(fmt.Errorf("read %s: %w", o.from, err), fault.Usage,
			hint+" If the file is truncated, copy it again.")
	}
	c, err := diagnose.ReadCase(bytes.NewReader(content))
	if err != nil {
		return diagnose.Report{}, err
	}
	return c.Report(o.more...)
}

// opened returns the content of a file, decrypted if needed.
func (o *diagnoseOptions) opened(file io.Reader) (io.Reader, error) {
	const begins = "age-encryption.org/"
	buffered := bufio.NewReader(file)
	if head, _ := buffered.Peek(len(begins)); string(head) != begins {
		return buffered, nil
	}
	var ids backup.Identities
	if o.identity != "" {
		var err error
		if ids, err = backup.ReadIdentities(o.identity); err != nil {
			return nil, err
		}
	}
	plain, err := ids.Open(buffered)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read %s: %w", o.from, err), fault.Usage, fault.HintOf(err))
	}
	return plain, nil
}

// ofClusters returns the flags that --from refuses.
func ofClusters() []string {
	return []string{"set", "values", "kubeconfig", "bootstrap-kubeconfig", "engine-address"}
}

// args accepts ENVIRONMENT, or no argument with --from.
func (o *diagnoseOptions) args(c *cobra.Command, args []string) error {
	if o.from == "" {
		return exactlyOne("ENVIRONMENT")(c, args)
	}
	for _, flag := range ofClusters() {
		if c.Flags().Changed(flag) {
			return fault.New(fault.Usage, "--"+flag+" and --from do not go together",
				"Leave one of them out: the file already contains what was read from the clusters.")
		}
	}
	if len(args) > 0 {
		return fault.New(fault.Usage, "--from replaces ENVIRONMENT, and both are given",
			"Leave one of them out.")
	}
	return nil
}
