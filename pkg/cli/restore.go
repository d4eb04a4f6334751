package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/restore"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// restoreOptions are the flags of `restore`.
type restoreOptions struct {
	output     outputOptions
	kubeconfig string
	identity   string
	verifyKey  string
	former     string
	force      string
	etcd       bool
	ssh        *string // nil: the flag is not given
	timeout    time.Duration
	streams    Streams
}

func newRestore(streams Streams) *cobra.Command {
	o, address := &restoreOptions{streams: streams}, ""
	c := &cobra.Command{
		Use:   "restore DIR",
		Short: "Restore a backup into another management cluster, which adopts the running machines",
		Long: `restore puts a backup into another management cluster, which a new up has built. The backup is a
folder or an encrypted file. The new cluster adopts the machines that still run; none is recreated.

restore compares the backup with the target first. It changes nothing if:

  - a file of the backup was changed
  - the providers differ
  - the target already holds objects of the backup that no earlier restore created

The Clusters stay paused until restore has compared all objects.

Two management clusters must never manage the same machines. restore therefore checks the
cluster that the backup was taken from. It refuses if that cluster still holds its definition, or has a Flux
that would apply it again. If that cluster does not answer, only you can know whether it is gone for
good: confirm it with --force NAME.

Workload clusters come back in their namespaces, with their releases. These are suspended unless
--verify-key confirms who made the backup: Flux runs what they say.

If a restore was interrupted, run it again. restore does not apply the values and the release of the
old management cluster.

With --etcd, restore repairs the management cluster itself after its etcd lost its majority: the
control-plane machine that is left gets the snapshot of a backup that was made with backup --etcd.
What was written after the snapshot is lost: confirm with --force NAME. restore --etcd refuses if the
API server is ready, if etcd has a leader, if a second control-plane machine exists, or if the machine
was not a member or had another version when the backup was made. It works with kubeadm, on Docker and
on OpenStack.

On OpenStack, --ssh names the machine that is left: programs run there as root, with ssh and sudo. The
login must ask for no password, and the host key must be known. restore finds the other servers of the
cluster with your credentials (OS_CLOUD or OS_AUTH_URL), and refuses if one may be a control plane.`,
		Example: `  cluster-init restore /mnt/safe/mgmt-20260102T030405Z --kubeconfig new-cluster.kubeconfig
  cluster-init restore mgmt-20260102T030405Z.tar.age --identity key.txt --kubeconfig new-cluster.kubeconfig --force mgmt
  cluster-init restore mgmt-20260102T030405Z.tar.age --etcd --identity key.txt --force mgmt --ssh ubuntu@192.0.2.7`,
		Args: exactlyOne("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("ssh") {
				o.ssh = &address
			}
			if o.ssh != nil && !o.etcd {
				return fault.New(fault.Usage, "--ssh is for the machine of restore --etcd",
					"Leave out --ssh, or add --etcd to repair the cluster itself.")
			}
			if o.etcd {
				return o.runEtcd(c.Context(), args[0])
			}
			return o.run(c.Context(), args[0])
		},
	}
	f := c.Flags()
	o.output.flags(f)
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the management cluster to restore into (required)")
	f.StringVar(&o.identity, "identity", "", "file with the private key of age or ssh that decrypts the backup")
	f.StringVar(&o.verifyKey, "verify-key", "", "ssh public key, or a file with one: refuse a backup that this "+
		"key did not sign (backup --sign-key)")
	f.StringVar(&o.former, "former-kubeconfig", "", "your kubeconfig of the management cluster that the backup was "+
		"taken from: restore checks that cluster too")
	f.StringVar(&o.force, "force", "", "name of the management cluster in the backup: confirm that it is gone for "+
		"good and does not answer")
	f.BoolVar(&o.etcd, "etcd", false, "restore the snapshot of etcd on the control-plane machine that is left")
	f.StringVar(&address, "ssh", "", "with --etcd on OpenStack: USER@ADDRESS of the control-plane machine that is left")
	f.DurationVar(&o.timeout, "timeout", 30*time.Minute, "how long to wait for the restored Clusters to be available "+
		"(10s to 24h); 0 waits forever")
	return c
}

func (o *restoreOptions) run(ctx context.Context, path string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	in, err := o.resolve(path)
	if err != nil {
		return sink.settled(ctx, "restore", path, err)
	}
	line := restoreLine{Type: "restore", Path: path, Target: o.kubeconfig, in: in}
	err = report(ctx, sink, "restore", path, func(ctx context.Context) (outcome, error) {
		say := func(kind event.Type) func(string) {
			return func(text string) { sink.Emit(event.Event{Time: time.Now(), Type: kind, Message: text}) }
		}
		in.Log = say(event.Progress)
		if err := restore.Check(ctx, in); err != nil { // before taking the lease, which writes
			return outcome{}, err
		}
		if unknown := in.Provenance(); unknown != "" {
			say(event.Warning)(unknown)
		}
		for _, line := range in.Creates() {
			say(event.Progress)("creates if missing: " + line)
		}
		held, err := hold(in.StateFolder, "restore "+path)
		if err != nil {
			return outcome{}, err
		}
		defer held.Release() // an error leaves an unlocked file, which the next run takes over
		sink.begin(nil)
		ctx, leases := lease.NewSet(ctx)
		defer leases.ReleaseAll()
		if err := alone(ctx, in, in.StateFolder, leases, say(event.Progress)); err != nil {
			return outcome{}, err
		}
		if line.result, err = restore.Run(ctx, in); err != nil {
			return outcome{}, err
		}
		for _, warning := range line.result.Warnings {
			say(event.Warning)(warning)
		}
		line.restored = true
		line.adoption, err = o.await(ctx, in, sink)
		return outcome{}, err
	}, nil)
	if !line.restored {
		return err
	}
	if shown := o.output.show(o.streams, line); err == nil { // also if the wait failed
		err = shown
	}
	return err
}

// resolve checks all input before the first request.
func (o *restoreOptions) resolve(path string) (restore.Input, error) {
	in, targetErr := o.target()
	ids, key, keysErr := o.keys()
	if err := fault.Join(targetErr, keysErr, o.readFormer("--former-kubeconfig", o.former, &in),
		checkBound("--timeout ", o.timeout)); err != nil {
		return in, err
	}
	b, err := openVerified(path, ids, key)
	if err != nil {
		return in, err
	}
	in.Verified = key.Given()
	if o.force != "" && o.force != b.Manifest.Cluster {
		return in, fault.New(fault.Usage,
			fmt.Sprintf("--force names %q, but the backup was taken from the management cluster %s", o.force,
				b.Manifest.Cluster),
			"Name the cluster that is gone for good, or leave --force out.")
	}
	in.Backup, in.Path, in.Force, in.Restore = b, path, o.force != "", capi.Restore
	if in.StateFolder, err = stateFolder(b.Manifest.Cluster); err != nil {
		return in, err
	}
	kept := filepath.Join(in.StateFolder, "kubeconfig")
	// an empty file names no cluster
	if there, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) || err == nil && there.Size() == 0 {
		return in, nil
	}
	return in, o.readFormer("the kubeconfig that up kept", kept, &in)
}

// keys reads the private keys that open a backup, and the public key that verifies it.
func (o *restoreOptions) keys() (ids backup.Identities, key backup.VerifyKey, err error) {
	var idsErr, keyErr error
	if o.identity != "" {
		ids, idsErr = backup.ReadIdentities(o.identity)
	}
	if o.verifyKey != "" {
		key, keyErr = backup.ReadVerifyKey("--verify-key", o.verifyKey)
	}
	return ids, key, fault.Join(idsErr, keyErr)
}

// openVerified opens a backup, and verifies its signature if a key is given.
func openVerified(path string, ids backup.Identities, key backup.VerifyKey) (*backup.Backup, error) {
	b, err := backup.Open(path, ids)
	if err != nil || !key.Given() {
		return b, err
	}
	if err := b.Verify(key); err != nil {
		return nil, fault.Wrap(fmt.Errorf("check backup %s: %w", path, err), fault.CodeOf(err), fault.HintOf(err))
	}
	return b, nil
}

// readFormer adds a kubeconfig of the cluster that the backup was taken from. An empty path means none.
func (o *restoreOptions) readFormer(what, path string, in *restore.Input) error {
	if path == "" {
		return nil
	}
	text, err := unpack.Named(path, mostOfInput)
	if err != nil {
		return fault.Wrap(fmt.Errorf("read %s: %w", what, err), fault.Usage,
			"Give a file that holds a kubeconfig and that you may read.")
	}
	in.Former = append(in.Former, restore.Former{Path: path, Content: text})
	return nil
}

// target prepares a client for the cluster of --kubeconfig. It sends no request.
func (o *restoreOptions) target() (restore.Input, error) {
	refuse := func(err error) (restore.Input, error) {
		return restore.Input{}, fault.Wrap(err, fault.Usage,
			"Give the kubeconfig of the new management cluster, which up writes: --kubeconfig FILE.")
	}
	if o.kubeconfig == "" {
		return refuse(fmt.Errorf("--kubeconfig is missing: restore never uses the current context"))
	}
	text, err := kube.ReadFile(o.kubeconfig)
	if err == nil && text == nil {
		err = fmt.Errorf("%s is empty", o.kubeconfig)
	}
	if err != nil {
		return refuse(fmt.Errorf("read --kubeconfig: %w", err))
	}
	scheme, err := capi.NewScheme()
	if err != nil {
		return refuse(err)
	}
	target, err := kube.Connect("target", text, scheme)
	if err != nil {
		return refuse(fmt.Errorf("read --kubeconfig %s: %w", o.kubeconfig, err))
	}
	config := rest.CopyConfig(target.Config)
	config.Timeout = 30 * time.Second // of one request
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return refuse(fmt.Errorf("read --kubeconfig: %w", err))
	}
	return restore.Input{Target: clusters.Side{Client: c, Config: config, Kubeconfig: o.kubeconfig},
		TargetKubeconfig: text}, nil
}
