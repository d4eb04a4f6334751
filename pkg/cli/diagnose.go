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
	output         outputOptions
	from, identity string
	rules          string
	more           []diagnose.Rule // of the folder rules
	streams        Streams
}

func newDiagnose(streams Streams) *cobra.Command {
	o := &diagnoseOptions{streams: streams}
	c := &cobra.Command{
		Use:   "diagnose ENVIRONMENT | diagnose --from FILE",
		Short: "Say why a management cluster does not get ready, and what to do about it",
		Long: `diagnose looks at the bootstrap cluster, the management cluster and the machines, and changes nothing. From what is not ready it goes down to
what that waits for: from a Kustomization to its source, its HelmRelease, the workload, the Pod and its containers, from a Cluster to its machines and what makes
them. It prints the cause at the bottom with its remedy, how sure that is, the way down, and what it could not look at.

It can be run at any time, beside a run of up too. It exits with 0 when no cause was found, with 50 when there is one, and with 32 when
no cluster answers.

With --from it looks at what cluster-init collect wrote, and at nothing else.`,
		Example: `  cluster-init diagnose kubeadm-capd
  cluster-init diagnose kubeadm-capo -o json | jq -r '.findings[] | .cause, .remedy'
  cluster-init diagnose --from ./cluster-init-kubeadm-capd.tar.zst`,
		Args: cobra.ArbitraryArgs, // flags have their variables only when it runs
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.args(c, args); err != nil {
				return err
			}
			return o.run(c.Context(), args)
		},
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.output.formatFlag(f, "plain: for people; json: one document for programs")
	o.clusters.flags(f)
	f.StringVar(&o.from, "from", "", "file that collect wrote, to look at in place of clusters")
	f.StringVar(&o.identity, "identity", "", "file with a secret key of age, or of ssh, that opens an encrypted one")
	f.StringVar(&o.rules, "rules", "", "folder with rules of your own, which come before those of the binary: a file "+
		"NAME.yaml each")
	overriddenBy(f, []string{"from"}, ofClusters()...)
	overriddenBy(f, append(ofClusters(), anArgument), "from", "identity")
	return c
}

func (o *diagnoseOptions) run(ctx context.Context, args []string) error {
	if err := o.output.known(); err != nil {
		return err
	}
	if o.rules != "" {
		var err error
		if o.more, err = diagnose.ReadRules(o.rules); err != nil {
			return err
		}
	}
	report, err := o.report(ctx, args)
	if err != nil {
		return err
	}
	if err := o.output.show(o.streams, report); err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		if o.output.format == "plain" && fault.CodeOf(err) == fault.ComponentStuck {
			return reportedError{err} // the report has said it
		}
		return err
	}
	return nil
}

// report is that of the clusters that are there, or of those that were collected.
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

// collected is the report of a file that collect wrote.
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
			"What a diagnosis is made of could not be collected: see its summary.txt.")
	}
	if err != nil {
		return diagnose.Report{}, fault.Wrap(fmt.Errorf("read %s: %w", o.from, err), fault.Usage,
			hint+" Where it was truncated, it cannot be read: copy it again.")
	}
	c, err := diagnose.ReadCase(bytes.NewReader(content))
	if err != nil {
		return diagnose.Report{}, err
	}
	return c.Report(o.more...)
}

// opened is the content of a file, decrypted where it is encrypted.
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

// ofClusters are the flags that are about clusters, and not about a file.
func ofClusters() []string { return []string{"set", "values", "kubeconfig", "bootstrap-kubeconfig"} }

// args are ENVIRONMENT, or none where a file is looked at, to which nothing can be added.
func (o *diagnoseOptions) args(c *cobra.Command, args []string) error {
	if o.from == "" {
		return exactlyOne("ENVIRONMENT")(c, args)
	}
	for _, flag := range ofClusters() {
		if c.Flags().Changed(flag) {
			return fault.New(fault.Usage, "--"+flag+" and --from do not go together",
				"The file has all that was read when it was collected: leave one of them out.")
		}
	}
	if len(args) > 0 {
		return fault.New(fault.Usage, "--from takes the place of ENVIRONMENT, and both are given",
			"Leave one of them out.")
	}
	return nil
}
