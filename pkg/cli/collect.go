package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/diagnose"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/evidence"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/render"
	"github.com/cluster-init/cluster-init/pkg/runs"
)

// collectOptions are the flags of `collect`.
type collectOptions struct {
	environmentOptions
	clusters   pivotClusters
	output     outputOptions
	to         string
	recipients []string
	streams    Streams
}

func newCollect(streams Streams) *cobra.Command {
	o := &collectOptions{streams: streams}
	c := &cobra.Command{
		Use:   "collect ENVIRONMENT",
		Short: "Collect objects, events and logs in one file, without secrets",
		Long: `collect writes one file with all that another person needs to find out what is wrong:

  - objects, events and logs of both clusters
  - the state and logs of containers and machines
  - the last run of the environment on this machine
  - the data that diagnose works on

collect changes nothing. It removes secrets, but not names and addresses.

cluster-init diagnose --from FILE repeats the diagnosis from the file, on any machine and without
any cluster.`,
		Example: `  cluster-init collect kubeadm-capd
  cluster-init collect kubeadm-capo --output-file /tmp/site.tar.zst.age --recipient age1...
  cluster-init diagnose --from ./cluster-init-kubeadm-capd.tar.zst`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), args[0]) },
	}
	f := c.Flags()
	o.environmentOptions.flags(f, o.streams)
	o.output.formatFlag(f, "plain: for people; json: one object")
	o.clusters.flags(f)
	f.StringVar(&o.to, "output-file", "", "file to write (default: ./cluster-init-CLUSTER.tar.zst, with .age if it is "+
		"encrypted)")
	f.StringArrayVar(&o.recipients, "recipient", nil, "public key of age (age1...) or ssh (ssh-ed25519, ssh-rsa): "+
		"encrypt the file, so that only the key's owner can open it (repeatable)")
	return c
}

func (o *collectOptions) run(ctx context.Context, name string) error {
	recipients, recipientsErr := backup.ParseRecipients("--recipient", o.recipients)
	if err := fault.Join(o.output.known(), recipientsErr); err != nil {
		return err
	}
	looking, _, err := lookingAt(ctx, name, &o.environmentOptions, &o.clusters)
	if err != nil {
		return err
	}
	path, err := o.path(looking.Cluster, recipients.Encrypt())
	if err != nil {
		return err
	}
	asked := ctx
	ctx, cancel := context.WithTimeout(ctx, collectBound)
	defer cancel()
	dir, err := os.MkdirTemp("", "cluster-init-collect-") // for its owner only
	if err != nil {
		return fault.Wrap(fmt.Errorf("make a folder to collect in: %w", err), fault.Usage,
			"Set TMPDIR to a folder that you may write to.")
	}
	defer os.RemoveAll(dir)
	left, err := o.gather(ctx, looking, dir, name)
	if err != nil {
		return err
	}
	if asked.Err() != nil { // keep an existing complete file instead of this incomplete one
		return fmt.Errorf("collect %s: %w", name, context.Cause(asked))
	}
	if err := writeCollected(path, dir, recipients); err != nil {
		return fault.Wrap(err, fault.Usage, "Make room on the disk, or give another file: --output-file FILE")
	}
	return o.output.show(o.streams, collected{Type: "collected", SchemaVersion: 1, Path: path,
		Encrypted: recipients.Encrypt(), NotCollected: append([]string{}, left...)})
}

// path returns the file to write, after checking that it can be written.
func (o *collectOptions) path(cluster string, encrypted bool) (string, error) {
	to := o.to
	if to == "" {
		to = "cluster-init-" + cluster + ".tar.zst"
		if encrypted {
			to += ".age"
		}
	}
	to, err := filepath.Abs(to)
	if err == nil {
		err = canWrite(to)
	}
	if err == nil {
		err = isReplaceable(to)
	}
	if err != nil {
		return "", fault.Wrap(fmt.Errorf("write %s: %w", to, err), fault.Usage,
			"Give the path of a file in a folder that you may write to: --output-file FILE")
	}
	return to, nil
}

// gather collects into a folder, and returns what could not be collected.
func (o *collectOptions) gather(ctx context.Context, looking *viewed, dir, name string) (left []string,
	err error) {
	known := redact.New(redact.FromEnvironment(os.Environ())...)
	for _, document := range looking.Secrets {
		known.Add(redact.FromValues(document)...)
	}
	reach := looking.Answering
	collector := evidence.Collector{Dir: dir, Redactor: known, Engine: &docker.Client{}, Clusters: reach,
		Cluster: looking.Cluster, Machines: saidBy(looking.Provider),
		Case: func(ctx context.Context) ([]byte, error) {
			c, err := diagnose.Gather(ctx, looking.World, known)
			if err != nil {
				return nil, err
			}
			return json.Marshal(c)
		}}
	run := evidence.Run{Command: "cluster-init collect " + name, Version: Version()}
	run.Events, err = lastRun(name)
	switch {
	case err != nil:
		run.Unread = append(run.Unread, "the last run on this machine: "+err.Error())
	case run.Events == nil:
		run.Unread = append(run.Unread, "the last run on this machine: none of "+name+" is kept")
	}
	collector.Left = func(what string) { left = append(left, what) }
	err = collector.Collect(ctx, run)
	return left, err
}

// saidBy returns a function that inspects the machines of a provider. It is nil if they are containers, which the
// engine inspects, or if the provider does not support it.
func saidBy(of provider.Provider) func(context.Context) ([]evidence.Said, error) {
	looksInto, can := of.(provider.Inspector)
	if !can || of.ReachesEngine() {
		return nil
	}
	return func(ctx context.Context) ([]evidence.Said, error) {
		machines, err := of.Machines(ctx)
		var all []evidence.Said
		for _, m := range machines {
			said, inspectErr := looksInto.Inspect(ctx, m.Name)
			for _, each := range said {
				all = append(all, evidence.Said{Machine: m.Name, From: each.From, Text: each.Text})
			}
			err = errors.Join(err, inspectErr)
		}
		return all, err
	}
}

// lastRun returns the events of the environment's last kept run, if any. It ignores successful backups, which do not
// help to find a problem.
func lastRun(environment string) ([]byte, error) {
	store, err := runStore()
	if err != nil {
		return nil, err
	}
	list, err := store.List()
	if err != nil {
		return nil, err
	}
	asked := runs.Of(event.Event{Environment: environment, Fields: ownFolder(environment)})
	for _, r := range list { // newest first
		if r.Of() != asked || r.Command == "backup" && r.Result == runs.Done {
			continue
		}
		kept, err := store.Find(r.ID)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		view := render.NewJSON(&out)
		for _, e := range kept.Events {
			view.Emit(e)
		}
		return out.Bytes(), nil
	}
	return nil, nil
}

// writeCollected packs a folder into a file that only its owner can read. It replaces an existing file at the end.
func writeCollected(path, dir string, recipients backup.Recipients) error {
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path))) // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	sealed, err := recipients.Seal(file)
	if err == nil {
		top, _, _ := strings.Cut(filepath.Base(path), ".")
		err = errors.Join(evidence.Pack(dir, top, sealed), sealed.Close())
	}
	if err == nil {
		err = file.CloseAtomicallyReplace()
	}
	if err = errors.Join(err, file.Cleanup()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// collected is the output of `collect`.
type collected struct {
	Type          string `json:"type"` // "collected"
	SchemaVersion int    `json:"schemaVersion"`
	Path          string `json:"path"`
	Encrypted     bool   `json:"encrypted"`
	// NotCollected lists what could not be collected, and why.
	NotCollected []string `json:"notCollected"`
}

// Print writes the path and the next steps.
func (c collected) Print(out io.Writer) error {
	path := oneline.Shell(c.Path)
	open, identity := "tar --zstd -xf "+path, ""
	if c.Encrypted {
		open, identity = "age -d -i KEY "+path+" | tar --zstd -x", " --identity KEY"
	}
	for _, what := range c.NotCollected {
		if _, err := fmt.Fprintf(out, "not collected: %s\n", what); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "wrote %s\n  what is wrong: cluster-init diagnose --from %s%s\n  all of it:     %s, "+
		"and begin with summary.txt\n"+
		"It contains no secrets, but names, addresses and what you run: decide who may read it.\n",
		c.Path, path, identity, open)
	return err
}
