package pivot

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
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
	return record.Forget(dir, scope.Cluster)
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
		return record.Forget(dir, scope.Cluster)
	}
	r, err := record.Read(backup)
	if err != nil {
		return fault.Wrap(err, fault.PivotFailed, "Compare what was backed up with the management cluster. If nothing "+
			"is missing, remove "+record.Marker(backup)+".")
	}
	other, err := r.OfPreviousCluster(ctx, scope, target)
	if err != nil {
		return err
	}
	if other {
		return record.Forget(dir, scope.Cluster)
	}
	wrong, err := record.Compare(ctx, target, r.Key, slices.DeleteFunc(slices.Clone(r.Entries),
		func(o record.Entry) bool { return o.Passing }), true)
	if err != nil {
		return err
	}
	if own != nil && own.Paused {
		wrong = append(wrong, own.String()+" is still paused on the target")
	}
	if len(wrong) > 0 {
		return fault.New(fault.PivotFailed, "an earlier move did not end as planned: "+strings.Join(wrong, "\n"),
			"What was there before the move is in "+record.WhereIs(backup)+". Compare it with the management cluster. "+
				"When nothing is missing that is needed, remove "+record.Marker(backup)+
				", and run the same command again.")
	}
	return markVerified(ctx, target, scope, dir, r.Objects())
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
