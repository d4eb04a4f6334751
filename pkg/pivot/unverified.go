package pivot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// markVerified notes on the Cluster that everything was compared, so that another machine's record does not count
// later. It also notes the Machines that the move brought, for Replaced. It removes this machine's records, also those
// of earlier attempts: only what has arrived now counts.
func markVerified(ctx context.Context, target clusters.Side, scope clusters.Scope, dir string,
	moved []capi.Object) error {
	own, err := ownCluster(ctx, target, scope)
	if err != nil {
		return fmt.Errorf("note that the move is verified: %w", err)
	}
	if own != nil {
		machines, err := movedMachines(ctx, target, scope, moved)
		if err == nil {
			err = annotate(ctx, target, own.Object, map[string]any{owned.VerifiedAnnotation: own.UID,
				owned.MachinesAnnotation: machines, owned.PivotAnnotation: nil})
		}
		if err != nil {
			return retryable(fmt.Errorf("note on %s that the move is verified: %w", own, err))
		}
	}
	return forget(dir, scope.Cluster)
}

// forget removes the records of a cluster, the newest last: while that one exists, the move counts as not verified.
func forget(dir, cluster string) error {
	backups, err := recordedBackups(dir, cluster)
	for _, backup := range backups {
		err = errors.Join(err, removed(marker(backup)))
	}
	if err != nil {
		return fmt.Errorf("note that the move is verified: %w", err)
	}
	return nil
}

// recordedBackups returns the backups of a cluster that have a record, oldest first. The backups themselves may be
// gone.
func recordedBackups(dir, cluster string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []string
	for _, e := range entries { // names end with the time
		if name, is := strings.CutSuffix(e.Name(), owned.UnverifiedSuffix); is && owned.IsBackup(cluster, name) {
			all = append(all, filepath.Join(dir, name))
		}
	}
	return all, nil
}

// Unverified returns the newest backup of a cluster in dir whose move was not verified; "" if there is none. The record
// alone has everything that is compared: the backup may have been moved away since.
func Unverified(dir, cluster string) (backup string, err error) {
	all, err := recordedBackups(dir, cluster)
	if err != nil {
		return "", fmt.Errorf("look for a move that was not verified: %w", err)
	}
	if len(all) == 0 {
		return "", nil
	}
	newest := all[len(all)-1]
	if _, err := os.Stat(newest + owned.EncryptedSuffix); err == nil {
		return newest + owned.EncryptedSuffix, nil
	}
	return newest, nil
}

// whereIs returns where a backup is, for a hint. If the backup was moved away, that is its former path.
func whereIs(backup string) string {
	if _, err := os.Stat(backup); err != nil {
		return "the backup that was at " + strings.TrimSuffix(backup, owned.EncryptedSuffix)
	}
	return backup
}

// VerifyBackup repeats the verification of a move that ended unverified: everything that was moved is on the target
// unchanged, and the Cluster is not paused. Machines and their objects are left out, because Cluster API may have
// replaced them meanwhile. It does not check what is left at the source: an observation of both sides shows that. It
// compares nothing if another machine has verified the move, or if the record is of an earlier cluster of the same
// name.
func VerifyBackup(ctx context.Context, target clusters.Side, scope clusters.Scope, backup string) error {
	dir := filepath.Dir(backup)
	own, err := ownCluster(ctx, target, scope)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	if own != nil && own.verified {
		return forget(dir, scope.Cluster)
	}
	r, err := readRecord(backup)
	if err != nil {
		return fault.Wrap(err, fault.PivotFailed, "Compare what was backed up with the management cluster. If nothing "+
			"is missing, remove "+marker(backup)+".")
	}
	other, err := r.ofPreviousCluster(ctx, scope, target)
	if err != nil {
		return err
	}
	if other {
		return forget(dir, scope.Cluster)
	}
	wrong, err := compare(ctx, target, r.Key, slices.DeleteFunc(slices.Clone(r.Objects),
		func(o recorded) bool { return o.Passing }), true)
	if err != nil {
		return err
	}
	if own != nil && own.Paused {
		wrong = append(wrong, own.String()+" is still paused on the target")
	}
	if len(wrong) > 0 {
		return fault.New(fault.PivotFailed, "an earlier move did not end as planned: "+strings.Join(wrong, "\n"),
			"What was there before the move is in "+whereIs(backup)+". Compare it with the management cluster. When "+
				"nothing is missing that is needed, remove "+marker(backup)+
				", and run the same command again.")
	}
	return markVerified(ctx, target, scope, dir, r.objects())
}

// verifiedCluster is the management cluster's own Cluster on a side.
type verifiedCluster struct {
	capi.Cluster
	verified bool // it carries the note that its move was verified
}

// ownCluster reads the management cluster's own Cluster; nil if it does not exist.
func ownCluster(ctx context.Context, side clusters.Side, scope clusters.Scope) (*verifiedCluster, error) {
	own, err := clusters.Own(ctx, side.Client, scope)
	if err != nil {
		return nil, err
	}
	if own == nil {
		return nil, nil
	}
	return &verifiedCluster{*own, own.Annotations[owned.VerifiedAnnotation] == string(own.UID)}, nil
}

// ofOneMachine reports whether an object is deleted when its machine is replaced.
func ofOneMachine(u *unstructured.Unstructured) bool {
	passing := []string{"Machine", "MachineSet", "KubeadmConfig", "RKE2Config"}
	return slices.Contains(passing, u.GetKind()) ||
		slices.ContainsFunc(u.GetOwnerReferences(),
			func(o metav1.OwnerReference) bool { return slices.Contains(passing, o.Kind) })
}
