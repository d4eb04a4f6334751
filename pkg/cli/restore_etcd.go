package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/restore/quorum"
	"github.com/cluster-init/cluster-init/pkg/ssh"
)

// etcdLine is the output of `restore --etcd`.
type etcdLine struct {
	Type    string `json:"type"`
	Path    string `json:"path"`
	Cluster string `json:"cluster"`
	Machine string `json:"machine"`
	// Taken is the time of the snapshot.
	Taken time.Time `json:"taken"`
	// Lost are the other members at that time.
	Lost []string `json:"lost"`
	// Paused are the workload clusters that were paused.
	Paused []string `json:"paused"`
	// Seconds is how long it took until the API server was ready.
	Seconds int `json:"seconds"`

	namespace string
	restored  bool
}

// Print writes the output for a person.
func (l etcdLine) Print(out io.Writer) error {
	var b strings.Builder
	oneline.Fprintf(&b, "restored the etcd of %s on machine %s, as it was at %s\n"+
		"Its API server is ready after %d s. The former data are on the machine, next to the new.\n",
		l.Cluster, l.Machine, l.Taken.Local().Format(time.DateTime), l.Seconds)
	if len(l.Lost) > 0 {
		all := strings.Join(l.Lost, " ")
		oneline.Fprintf(&b, "Have Cluster API replace the machines that are lost: kubectl delete node %s; "+
			"kubectl -n %s delete machine %s\n", all, l.namespace, all)
	}
	for _, cluster := range l.Paused {
		namespace, name, _ := strings.Cut(cluster, "/")
		oneline.Fprintf(&b, "Paused: workload cluster %s. If it has not changed since then, resume it: kubectl -n %s "+
			"patch cluster %s --type merge -p '{\"spec\":{\"paused\":false}}'\n", cluster, namespace, name)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// startBound is more than an etcd needs to find a leader after its start.
const startBound = 90 * time.Second

// runEtcd restores the etcd of a management cluster on the machine that is left.
func (o *restoreOptions) runEtcd(ctx context.Context, path string) error {
	sink, err := o.output.sink(o.streams)
	if err != nil {
		return err
	}
	shell, err := o.shell()
	if err != nil { // before the backup is decrypted
		return sink.settled(ctx, "restore", path, err)
	}
	b, err := o.snapshot(path)
	if err != nil {
		return sink.settled(ctx, "restore", path, err)
	}
	machines, err := controlPlanesOf(b, shell)
	if err != nil {
		return sink.settled(ctx, "restore", path, err)
	}
	line := etcdLine{Type: "restore-etcd", Path: path, Cluster: b.Manifest.Cluster, Lost: []string{},
		Paused: []string{}, namespace: b.Manifest.Namespace}
	if b.Manifest.Etcd != nil {
		line.Taken = b.Manifest.Etcd.Taken
	}
	err = report(ctx, sink, "restore", path, func(ctx context.Context) (outcome, error) {
		in, c, state, err := o.quorum(b, machines)
		if err != nil {
			return outcome{}, err
		}
		in.Report = func(format string, args ...any) {
			sink.Emit(event.Event{Time: time.Now(), Type: event.Progress, Message: fmt.Sprintf(format, args...)})
		}
		mark := markOf(b, state)
		in.Starting = mark.write
		_, checked := quorum.Check(ctx, in) // before the lock, which writes
		earlier, err := mark.resumes(checked)
		if err != nil {
			return outcome{}, err
		}
		held, err := hold(state, "restore --etcd "+path)
		if err != nil {
			return outcome{}, err
		}
		defer held.Release() // an error leaves an unlocked file, which the next run takes over
		sink.begin(nil)
		begun := time.Now()
		on, err := restored(ctx, in, earlier)
		if err == nil {
			line.restored = true
			line.Machine, line.Seconds = on, int(time.Since(begun).Seconds())
			for _, m := range b.Manifest.Etcd.Members {
				if m.Name != on {
					line.Lost = append(line.Lost, m.Name)
				}
			}
			line.Paused, err = pauseOthers(ctx, c, b.Manifest, func(text string) { in.Report("%s", text) })
		}
		if err == nil {
			err = mark.remove()
		}
		return outcome{}, err
	}, nil)
	if !line.restored {
		return err
	}
	if shown := o.output.show(o.streams, line); err == nil { // also if a cluster could not be paused
		err = shown
	}
	return err
}

// snapshot opens the backup. It demands a confirmation: what was written after the snapshot is lost.
func (o *restoreOptions) snapshot(path string) (*backup.Backup, error) {
	ids, key, err := o.keys()
	if err != nil {
		return nil, err
	}
	b, err := openVerified(path, ids, key)
	if err != nil {
		return nil, err
	}
	if b.Manifest.Etcd != nil && o.force != b.Manifest.Cluster {
		return nil, fault.New(fault.Usage, fmt.Sprintf("restore --etcd replaces the etcd of %s: what was written "+
			"after %s is lost, also about workload clusters", b.Manifest.Cluster,
			b.Manifest.Etcd.Taken.Local().Format(time.DateTime)),
			"Confirm it: --force "+b.Manifest.Cluster)
	}
	return b, nil
}

// shell returns what reaches the machine of --ssh; nil without the flag.
func (o *restoreOptions) shell() (provider.Shell, error) {
	if o.ssh == nil {
		return nil, nil
	}
	destination, err := ssh.Parse(*o.ssh)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read --ssh: %w", err), fault.Usage, fault.HintOf(err))
	}
	return &ssh.Client{Destination: destination}, nil
}

// controlPlanesOf returns the control-plane machines of a backup's cluster, where its objects say that they are.
func controlPlanesOf(b *backup.Backup, shell provider.Shell) (provider.ControlPlaneRunner, error) {
	of := b.Manifest
	if of.Etcd == nil {
		return nil, quorum.Refuse(b, quorum.State{})
	}
	machines, err := b.Machines()
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("read the machines of %s from the backup: %w", of.Cluster, err),
			fault.BackupInvalid, "Use a backup that cluster-init backup --etcd made.")
	}
	lost := known.Lost{Namespace: of.Namespace, Cluster: of.Cluster, Infrastructure: machines.Infrastructure,
		Endpoint: machines.Endpoint,
		Roles:    provider.Roles{ControlPlanes: machines.ControlPlanes, Workers: machines.Workers}}
	for _, m := range of.Etcd.Members {
		lost.Roles.ControlPlanes = append(lost.Roles.ControlPlanes, m.Name)
	}
	return known.ControlPlanes(lost, known.Access{Engine: &docker.Client{}, Shell: shell, Lookup: os.LookupEnv})
}

// quorum returns the input of the restore, a connection to the cluster, and its state folder.
func (o *restoreOptions) quorum(b *backup.Backup, machines provider.ControlPlaneRunner) (quorum.Input, *kube.Cluster,
	string, error) {
	cluster := b.Manifest.Cluster
	state, err := stateFolder(cluster)
	if err != nil {
		return quorum.Input{}, nil, "", err
	}
	file := o.kubeconfig
	if file == "" {
		file = filepath.Join(state, "kubeconfig")
	}
	text, err := kube.ReadFile(file)
	if err == nil && text == nil {
		err = fmt.Errorf("%s is empty or does not exist", file)
	}
	var c *kube.Cluster
	scheme, schemeErr := capi.NewScheme()
	if err = errors.Join(err, schemeErr); err == nil {
		c, err = kube.Connect("management", text, scheme)
	}
	if err != nil {
		return quorum.Input{}, nil, "", fault.Wrap(fmt.Errorf("read the kubeconfig of %s: %w", cluster, err),
			fault.Usage, "Give the kubeconfig of the cluster whose etcd is to be restored: --kubeconfig FILE.")
	}
	if !b.Manifest.Identifies(kube.Authority(text)) {
		return quorum.Input{}, nil, "", fault.New(fault.RestoreRefused,
			fmt.Sprintf("restore the etcd of %s: the kubeconfig %s is not of that cluster: it trusts another "+
				"certificate authority than that of the backup", cluster, file),
			"Give the kubeconfig of "+cluster+": --kubeconfig FILE. restore would pause the workload clusters of the "+
				"other one.")
	}
	return quorum.Input{Backup: b, Ready: c.Reachable, Machines: machines, Now: time.Now,
		Patience: startBound}, c, state, nil
}
