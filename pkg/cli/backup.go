package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// backupOptions are the flags of `backup`.
type backupOptions struct {
	environmentOptions
	output     outputOptions
	recipients recipientOptions
	to         string
	kubeconfig string
	etcd       bool
	keep       int
	streams    Streams
}

func newBackup(streams Streams) *cobra.Command {
	o := &backupOptions{streams: streams}
	c := &cobra.Command{
		Use:   "backup ENVIRONMENT",
		Short: "Back up the definition of a management cluster",
		Long: `backup saves the definition of a management cluster, so that you can rebuild it around its
machines. The backup contains:

  - the Cluster API objects with their Secrets
  - the objects that these refer to
  - the values, the release and the source of telco-cloud-init
  - the same of the workload clusters, in every namespace
  - with --etcd, a snapshot of the management cluster's etcd: every object of that cluster, and
    none of its workload clusters' etcd

backup changes nothing in the cluster. It reads the backup back and verifies it. If it has to leave
something out, it writes the rest, names what is missing, and ends with exit code 66.

The backup holds the cluster's private keys. With --recipient it is one encrypted file, and nothing
of it is ever on the disk unencrypted. backup refuses a cluster that is paused or in the middle of
a move.

With --keep N it then removes the oldest backups of this cluster in --output-dir, until N are left.
It removes none if the new one leaves out something, and nothing that it does not know to be a
backup of this cluster. An encrypted backup is known by its name only: give each cluster a folder
of its own.`,
		Example: `  cluster-init backup kubeadm-capo --output-dir /mnt/safe --recipient age1... --keep 14
  cluster-init backup kubeadm-capo --kubeconfig FILE -o json`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.output.flags(f)
	o.recipients.flags(f)
	f.StringVar(&o.to, "output-dir", "", "folder for the backup (default: the state folder of the cluster)")
	f.BoolVar(&o.etcd, "etcd", false, "also save a snapshot of etcd, read through one of its Pods")
	f.IntVar(&o.keep, "keep", 0, "remove the oldest backups of this cluster in --output-dir until this many are left; "+
		"0 removes none")
	f.StringVar(&o.kubeconfig, "kubeconfig", "",
		"kubeconfig of the management cluster (default: the one in the state folder)")
	return c
}

func (o *backupOptions) run(ctx context.Context, name string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	run, err := o.resolve(ctx, name)
	if err != nil {
		return sink.settled(ctx, "backup", name, err)
	}
	var line backupLine
	err = report(ctx, sink, "backup", name, func(ctx context.Context) (outcome, error) {
		sink.begin(run.Environment)
		kept, err := run.Backup(ctx, o.to, func(what string) {
			sink.Emit(event.Event{Time: time.Now(), Type: event.Progress, Message: "waiting: " + what})
		})
		line = backupLine{Type: "backup", Path: kept.Path, Encrypted: run.BackupRecipients.Encrypt(),
			Signed: run.BackupSigner.Signs(), LeftOut: kept.LeftOut, Pruned: kept.Pruned, Manifest: kept.Manifest}
		return outcome{}, err
	}, nil)
	return o.finish(line, err)
}

// finish prints the backup, also one that leaves something out: it was written.
func (o *backupOptions) finish(line backupLine, err error) error {
	if line.Path == "" {
		return err
	}
	if shown := o.output.show(o.streams, line); err == nil {
		err = shown
	}
	return err
}

// resolve checks all input, before anything is written.
func (o *backupOptions) resolve(ctx context.Context, name string) (*up.Run, error) {
	env, err := o.loadNamesOnly(ctx, name)
	sealing, sealingErr := o.recipients.parse()
	if err := fault.Join(err, sealingErr, o.check()); err != nil {
		return nil, err
	}
	state, err := stateFolder(env.ClusterName())
	if err != nil {
		return nil, err
	}
	if o.kubeconfig == "" {
		o.kubeconfig = filepath.Join(state, "kubeconfig")
	}
	if o.to == "" {
		o.to = state
	}
	if o.keep > 0 && sameFolder(o.to, state) {
		return nil, o.keepsElsewhere()
	}
	if err := canWrite(filepath.Join(o.to, "backup")); err != nil {
		return nil, fault.Wrap(fmt.Errorf("write a backup: %w", err), fault.Usage,
			"Give --output-dir a folder that you may write to.")
	}
	engine := &docker.Client{}
	makes, err := known.Of(env, engine)
	if err != nil {
		return nil, err
	}
	return up.New(up.Options{Subject: clusters.Subject{Identity: clusters.IdentityOf(env),
		KubeconfigPath: o.kubeconfig, StateFolder: state}, Environment: env,
		BackupRecipients: sealing.recipients, BackupSigner: sealing.signer, BackupEtcd: o.etcd,
		BackupKeep: o.keep, Version: Version()},
		clusters.Parts{Docker: engine, Provider: makes, Now: time.Now}), nil
}

// check validates flags that do not depend on the environment.
func (o *backupOptions) check() error {
	var problems []error
	switch {
	case o.keep < 0:
		problems = append(problems, fault.New(fault.Usage, fmt.Sprintf("--keep is %d, and not a number of backups",
			o.keep), "Use 1 or more. Without --keep, backup removes none."))
	case o.keep > 0 && o.to == "":
		problems = append(problems, o.keepsElsewhere())
	}
	if o.kubeconfig != "" {
		if err := isFile(o.kubeconfig); err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("read --kubeconfig: %w", err), fault.Usage,
				"Name a file that holds the kubeconfig of the management cluster."))
		}
	}
	return fault.Join(problems...)
}

// keepsElsewhere refuses --keep in the state folder: its backups show later runs that a pivot was made.
func (o *backupOptions) keepsElsewhere() error {
	return fault.New(fault.Usage, fmt.Sprintf("--keep %d would remove the backups in the state folder of the cluster, "+
		"which cluster-init up made before the pivot", o.keep), "Give --output-dir another folder.")
}

// sameFolder reports whether two paths lead to one folder that exists.
func sameFolder(a, b string) bool {
	first, err := os.Stat(a)
	second, secondErr := os.Stat(b)
	return err == nil && secondErr == nil && os.SameFile(first, second)
}

// backupLine is the output of `backup`.
type backupLine struct {
	Type      string `json:"type"`
	Path      string `json:"path"`
	Encrypted bool   `json:"encrypted"`
	Signed    bool   `json:"signed"`
	// LeftOut are workload clusters of which the backup does not have everything, and objects that it lacks.
	LeftOut []up.LeftOut `json:"leftOut,omitempty"`
	backup.Pruned
	backup.Manifest
}

// Print writes the path and the contents of the backup, for a person.
func (l backupLine) Print(out io.Writer) error {
	var b strings.Builder
	oneline.Fprintf(&b, "backup of Cluster %s/%s: %s\n", l.Namespace, l.Cluster, l.Path)
	for _, s := range []struct {
		section backup.Section
		what    string
	}{{backup.Objects, "objects that move with the cluster"},
		{backup.References, "objects that these refer to, which do not move"},
		{backup.Environment, "values, release and source"},
		{backup.Workload, "values, releases and sources of workload clusters"}} {
		oneline.Fprintf(&b, "  %-12s %4d  %s\n", s.section, l.Count(s.section), s.what)
	}
	if l.Etcd != nil {
		oneline.Fprintf(&b, "  etcd %s, a snapshot of %s\n", l.Etcd.Version,
			oneline.Count(len(l.Etcd.Members), "member"))
	}
	if l.Kubernetes != "" {
		oneline.Fprintf(&b, "  Kubernetes %s\n", l.Kubernetes)
	}
	for _, p := range l.Providers {
		oneline.Fprintf(&b, "  provider %s %s\n", p.Name, p.Version)
	}
	for _, w := range l.Workloads {
		how := "without values and release"
		if w.Release {
			how = "with its values, release and source"
		}
		oneline.Fprintf(&b, "  workload cluster %s, %s\n", w, how)
	}
	for _, left := range l.LeftOut {
		oneline.Fprintf(&b, "Incomplete: %s.\n", left)
	}
	for _, path := range l.Removed {
		oneline.Fprintf(&b, "Removed the older backup %s.\n", path)
	}
	for _, left := range l.NotRemoved {
		oneline.Fprintf(&b, "Did not remove %s: %s.\n", left.Path, left.Reason)
	}
	if !l.Encrypted {
		fmt.Fprintln(&b, "It holds private keys and is not encrypted: store it where only you can read it, or use "+
			"--recipient.")
	}
	if !l.Signed {
		fmt.Fprintln(&b, "It is not signed: restore cannot verify who made it. Use --sign-key to sign it.")
	}
	_, err := io.WriteString(out, b.String())
	return err
}
