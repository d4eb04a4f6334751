package up

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// backupBound limits the time for everything that a backup reads.
const backupBound = 10 * time.Minute

// BackedUp is the result of Backup.
type BackedUp struct {
	Path     string
	Manifest backup.Manifest
	LeftOut  []LeftOut
	Pruned   backup.Pruned
}

// Backup backs up the living management cluster into a new folder, or file, of dir. The backup has its definition,
// what that refers to, its values, release and source, the same of its workload clusters in all namespaces, and a
// snapshot of its etcd with Options.BackupEtcd.
// Backup changes nothing in the cluster, and acquires no lease. It first proves that the cluster is the one of this
// environment. It calls waiting with what it waits for. The error has the code fault.BackupIncomplete if the backup was
// written and leaves something out.
//
// With Options.BackupKeep it then removes the oldest backups of the cluster in dir, unless the new one leaves out
// something.
func (u *Run) Backup(ctx context.Context, dir string, waiting func(string)) (BackedUp, error) {
	ctx, cancel := context.WithTimeout(ctx, backupBound)
	defer cancel()
	_, _ = u.decider.AskEngine(ctx) // it may know another address of the cluster; else the kubeconfig's is used
	side := u.decider.SeeManagement(ctx, nil)
	hint := "Name its kubeconfig with --kubeconfig FILE. " + clusters.RecoverHint(u.Environment.Argument())
	switch side.State {
	case clusters.ManagementForeign:
		return BackedUp{}, side.Err
	case clusters.ManagementAbsent:
		return BackedUp{}, fault.New(fault.ClusterUnreachable,
			fmt.Sprintf("no kubeconfig names the management cluster %s", u.Environment.ClusterName()), hint)
	case clusters.ManagementSilent:
		return BackedUp{}, fault.Retryable(fmt.Errorf("the management cluster %s does not answer: %w",
			u.Environment.ClusterName(), side.Err), fault.ClusterUnreachable,
			"Start its machines, or restore the network in between. "+hint)
	}
	keeper := pivot.Keeper{Dir: dir, Recipients: u.BackupRecipients, Signer: u.BackupSigner, Version: u.Version,
		Now: u.decider.Now, Waiting: waiting}
	if err := pivot.MayKeep(ctx, u.decider.Side(side.Cluster), u.Scope); err != nil {
		return BackedUp{}, err
	}
	environment, err := rollout.ReleaseInputs(ctx, side.Cluster)
	if err != nil {
		return BackedUp{}, fault.Wrap(fmt.Errorf("back up the management cluster %s: %w",
			u.Environment.ClusterName(), err), fault.BackupRefused,
			"Check that the release telco-cloud-init in its namespace flux-system is complete: run cluster-init up "+
				u.Environment.Argument()+".")
	}
	more, leftOut, err := backupWorkloads(ctx, side.Cluster, u.Scope)
	if err != nil {
		return BackedUp{}, fault.Retryable(fmt.Errorf("read the workload clusters of %s: %w",
			u.Environment.ClusterName(), err), fault.ClusterUnreachable, "")
	}
	more.Environment = environment
	if u.BackupEtcd {
		if more.Etcd, more.Snapshot, err = backupEtcd(ctx, side.Cluster, u.Scope, u.decider.Now); err != nil {
			return BackedUp{}, err
		}
	}
	kept, err := keeper.Keep(ctx, u.decider.Side(side.Cluster), u.Scope, more)
	if err != nil {
		return BackedUp{}, err
	}
	b := BackedUp{Path: kept.Path, Manifest: kept.Manifest, LeftOut: leftOut}
	for _, o := range kept.Left {
		b.LeftOut = append(b.LeftOut, LeftOut{Object: o.String(), Reason: pivot.Unowned})
	}
	err = b.incomplete(u.Environment.Argument())
	if err == nil && u.BackupKeep > 0 { // an earlier backup may have what an incomplete one leaves out
		b.Pruned, err = backup.Prune(b.Path, b.Manifest, u.BackupKeep)
	}
	return b, err
}

// incomplete returns an error that names what the backup leaves out; nil if it leaves nothing out.
func (b BackedUp) incomplete(environment string) error {
	if len(b.LeftOut) == 0 {
		return nil
	}
	var all []string
	for _, left := range b.LeftOut {
		all = append(all, left.String())
	}
	return fault.New(fault.BackupIncomplete,
		fmt.Sprintf("the backup %s leaves out %s", b.Path, strings.Join(all, "; ")),
		"Keep this backup, fix what is named, and run cluster-init backup "+environment+" again.")
}
