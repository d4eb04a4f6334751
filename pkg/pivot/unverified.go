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

// markVerified notes on the Cluster that all of it was compared, so that no other machine's record is held against it
// later, and which Machines the move brought, for Replaced. It takes away this machine's records, also those of earlier
// attempts: what has arrived now is what counts.
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

// forget removes the records of a cluster, the newest last: as long as that is there, the move counts as not verified.
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

// recordedBackups returns the backups of a cluster that have a record, oldest first, whether they are still there or
// not.
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

// Unverified returns the newest backup of a cluster in dir that was made for a move, if nobody has seen that all of it
// arrived; "" if there is none. The record alone has all that is compared: the backup may have been moved away since.
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

// whereIs says where a backup is, for a hint: one that was moved away was at a path.
func whereIs(backup string) string {
	if _, err := os.Stat(backup); err != nil {
		return "the backup that was at " + strings.TrimSuffix(backup, owned.EncryptedSuffix)
	}
	return backup
}

// VerifyBackup repeats the verification of a move that ended unverified: all that was moved is on the target as it was,
// but for machines and what is made for each, which Cluster API may have replaced meanwhile, and the Cluster itself is
// not paused. What may be left at the source is not looked at: an observation of both sides shows it. Nothing is
// compared where another machine has verified the move, or where the record is of an earlier cluster of the same name.
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
	verified bool // it says so of the move that brought it there
}

// ownCluster reads it; nil: it is not there.
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

// ofOneMachine says whether an object goes when its machine is replaced.
func ofOneMachine(u *unstructured.Unstructured) bool {
	passing := []string{"Machine", "MachineSet", "KubeadmConfig", "RKE2Config"}
	return slices.Contains(passing, u.GetKind()) ||
		slices.ContainsFunc(u.GetOwnerReferences(),
			func(o metav1.OwnerReference) bool { return slices.Contains(passing, o.Kind) })
}
