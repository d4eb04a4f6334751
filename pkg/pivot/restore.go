package pivot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// RestoreInput is what Restore needs. All fields but Log and Ask are required.
type RestoreInput struct {
	Backup *backup.Backup
	Path   string // of the backup: the folder, or the encrypted file
	Target clusters.Side
	// TargetKubeconfig is the content of the file that Target is connected by: its authority says which cluster it is.
	TargetKubeconfig []byte
	// Verified is whether the signature of the backup was checked with a key of the user's: then its own word counts.
	Verified bool
	// Former are kubeconfigs of the cluster that the backup is of which an earlier run kept, or a person has.
	Former []FormerKubeconfig
	// StateFolder is where runs of this machine keep what they know of that cluster; "": nowhere.
	StateFolder string
	// Force is whether a person says that the cluster which the backup is of is gone for good. It is believed only
	// where nobody answers.
	Force   bool
	Restore Restorer
	// Ask connects to the cluster that the backup is of; nil: over the network.
	Ask func(kubeconfig []byte) (client.Client, string, error)
	Log func(string) // progress lines; nil drops them
}

// FormerKubeconfig is the content of a file.
type FormerKubeconfig struct {
	Path    string
	Content []byte
}

// Restorer creates the objects; capi.Restore is the real one.
type Restorer func(ctx context.Context, in capi.RestoreInput) error

// RestoreResult is what a restore did.
type RestoreResult struct {
	Already    bool          // an earlier run had done it all
	Clusters   []capi.Object // that are active on the target now
	Objects    int           // of the backup, on the target
	References []capi.Object // that were created
	Warnings   []string      // what a person should compare
}

// CheckRestore returns why a restore must not start, all reasons at once, and changes nothing: the code is
// fault.RestoreRefused, or fault.BackupInvalid where the backup is not for this target; fault.ClusterUnreachable says
// that the target could not be asked.
func CheckRestore(ctx context.Context, in RestoreInput) error {
	_, err := in.prepare(ctx)
	return err
}

// Restore puts a backup into a management cluster that holds nothing of it. Its Clusters stay paused until all of it is
// there, was compared with the backup, and the cluster that the backup is of was asked again. It may be repeated, and
// cut short: the next run tells from the target how far it came.
func Restore(ctx context.Context, in RestoreInput) (RestoreResult, error) {
	if in.Log == nil {
		in.Log = func(string) {}
	}
	r, err := in.prepare(ctx)
	if err != nil {
		return RestoreResult{}, err
	}
	result := RestoreResult{Already: r.stage == RestoreDone, Objects: len(r.record), Warnings: r.now.warnings()}
	if !result.Already {
		result.Warnings = append(result.Warnings, in.remedies()...)
	}
	if r.stage == RestoreEmpty || r.stage == RestoreBegun {
		if err := r.create(ctx); err != nil {
			return RestoreResult{}, err
		}
	}
	if r.stage == RestoreHeld {
		if err := r.release(ctx, &result); err != nil {
			return RestoreResult{}, err
		}
	}
	if result.Clusters, err = r.active(ctx); err != nil {
		return RestoreResult{}, err
	}
	return result, nil
}

// create has clusterctl create what is missing, and sees that all of it is there as it was.
func (r *restoration) create(ctx context.Context) error {
	r.in.Log(fmt.Sprintf("creating %d of %d objects, the Clusters paused", len(r.now.missing()), len(r.record)))
	err := r.in.Restore(ctx, capi.RestoreInput{To: r.in.Target.Config, Objects: r.prepared(), Log: r.in.Log})
	if err == nil {
		err = r.observe(ctx)
	}
	if err != nil {
		return cutOff(ctx, err, "What was created is paused.")
	}
	if r.stage != RestoreHeld {
		return fault.New(fault.RestoreFailed, "the objects were created, and the target does not hold all of them as "+
			"they were: "+strings.Join(r.reasons(), "; "),
			"The Clusters stay paused. Compare what is named with the backup "+r.in.Path+
				", and put it right or delete it on the target. Then run the same command again.")
	}
	r.in.Log(fmt.Sprintf("all %d objects are on the target as they were", len(r.record)))
	return nil
}

// release creates what the objects refer to, and resumes what is paused, after a last look at whom else the machines
// may have.
func (r *restoration) release(ctx context.Context, result *RestoreResult) error {
	created, warnings, err := r.references(ctx)
	result.References, result.Warnings = created, append(result.Warnings, warnings...)
	if err != nil {
		return cutOff(ctx, err, "The Clusters are paused.")
	}
	old := r.in.probeFormer(ctx)
	if err := context.Cause(ctx); err != nil { // then it could not say anything
		return cutOff(ctx, err, "The Clusters are paused.")
	}
	if err := old.refusal(r.in); err != nil {
		return fault.Wrap(fmt.Errorf("the Clusters stay paused on the target: %w", err), fault.CodeOf(err),
			fault.HintOf(err))
	}
	r.in.Log(fmt.Sprintf("resuming %d Clusters and ClusterClasses", len(r.now.pausedByRestore)))
	if err := resume(ctx, r.in.Target, r.now.pausedByRestore); err != nil {
		return cutOff(ctx, err, "Some Clusters may be paused.")
	}
	return nil
}

// active sees that the restored Clusters are there and active, and returns them.
func (r *restoration) active(ctx context.Context) ([]capi.Object, error) {
	if err := r.observe(ctx); err != nil {
		return nil, cutOff(ctx, err, "All was restored.")
	}
	if r.stage != RestoreDone {
		return nil, fault.New(fault.RestoreFailed, "the Clusters were resumed, and the target does not hold all of "+
			"them as they were: "+strings.Join(r.reasons(), "; "),
			"Compare what is named with the backup "+r.in.Path+".")
	}
	return r.now.active, nil
}

func cutOff(ctx context.Context, err error, how string) error {
	err = fmt.Errorf("the restore was interrupted: %w", err)
	if lost := lostLease(ctx); lost != nil {
		return errors.Join(lost, err)
	}
	return fault.Retryable(err, fault.RestoreFailed, how+" Run the same command again: it goes on from here.")
}
