// Package restore creates the objects of a backup in another management cluster. It refuses while the cluster that was
// backed up may still act on the machines, and resumes the Clusters only after everything was compared.
package restore

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
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// Input is what Run and Check need. A field is required unless its comment says otherwise.
type Input struct {
	Backup *backup.Backup
	Path   string // of the backup: a folder, or an encrypted file
	Target clusters.Side
	// TargetKubeconfig is the content of the file that connects to Target. Its certificate authority identifies the
	// cluster.
	TargetKubeconfig []byte
	// Verified reports whether the backup's signature was checked with a key of the user's: then the backup's own
	// statements count.
	Verified bool
	// Former are other kubeconfigs of the cluster that was backed up: an earlier run kept them, or a person has them.
	// There may be none.
	Former []Former
	// StateFolder is the folder in which runs on this machine keep the records of moves of that cluster; "" means none.
	StateFolder string
	// Force means that a person says that the cluster that was backed up is gone for good. It passes a silent,
	// moved-out or empty cluster and an unverified move, and no other refusal.
	Force   bool
	Restore Restorer
	// Ask connects to the cluster that was backed up. Nil means over the network.
	Ask func(kubeconfig []byte) (client.Client, string, error)
	Log func(string) // progress lines; nil drops them
}

// Former is the content of a kubeconfig file.
type Former struct {
	Path    string
	Content []byte
}

// Restorer creates the objects; capi.Restore is the real one.
type Restorer func(ctx context.Context, input capi.RestoreInput) error

// Result is the result of a restore.
type Result struct {
	Already    bool          // an earlier run had finished the restore
	Clusters   []capi.Object // that are active on the target now
	Objects    int           // of the backup's section Objects, on the target
	References []capi.Object // that were created
	Releases   []capi.Object // releases of workload clusters and their inputs, that were created
	Suspended  []Suspended   // releases of workload clusters that are suspended on the target
	Warnings   []string      // what a person should compare
}

// Check returns all reasons why a restore must not start, and changes nothing. The code is that of the
// first reason: fault.BackupInvalid if the backup cannot be restored, or not into this target; else
// fault.RestoreRefused, also if the user may not read the target. It is fault.ClusterUnreachable if the target does not
// answer.
func Check(ctx context.Context, input Input) error {
	_, err := input.prepare(ctx)
	return err
}

// Run creates the objects of a backup in a management cluster that holds none of them. The Clusters stay paused
// until all objects exist and match the backup, and the cluster that was backed up was checked again. Run may be
// interrupted and repeated: the next one finds from the target how far it came.
func Run(ctx context.Context, input Input) (Result, error) {
	if input.Log == nil {
		input.Log = func(string) {}
	}
	r, err := input.prepare(ctx)
	if err != nil {
		return Result{}, err
	}
	result := Result{Already: r.stage == Done && !r.missingReleases(), Objects: len(r.record),
		Warnings: r.now.warnings()}
	if r.stage != Done {
		result.Warnings = append(result.Warnings, input.remedies()...)
	}
	if r.stage != Done { // the values first: the definitions may refer to them
		if result.Releases, err = r.createReleases(ctx, false); err != nil {
			return Result{}, interrupted(ctx, err, "Nothing acts on the machines.")
		}
	}
	if r.stage == Empty || r.stage == Begun {
		if err := r.create(ctx); err != nil {
			return Result{}, err
		}
	}
	if r.stage == Held {
		if err := r.release(ctx, &result); err != nil {
			return Result{}, err
		}
	}
	if result.Clusters, err = r.active(ctx); err != nil {
		return Result{}, err
	}
	err = r.finishReleases(ctx, &result)
	return result, err
}

// create lets clusterctl create what is missing, and verifies that all objects exist unchanged.
func (r *restoration) create(ctx context.Context) error {
	r.input.Log(fmt.Sprintf("creating %d of %d objects, the Clusters paused", len(r.now.missing()), len(r.record)))
	err := r.input.Restore(ctx, capi.RestoreInput{To: r.input.Target.Config, Objects: r.prepared(), Log: r.input.Log})
	if err == nil {
		err = r.observe(ctx)
	}
	if err != nil {
		return interrupted(ctx, err, "What was created is paused.")
	}
	if r.stage != Held {
		return fault.New(fault.RestoreFailed, "the objects were created, but these differ from the backup on the "+
			"target: "+strings.Join(r.reasons(), "; "),
			"Compare them with the backup "+r.input.Path+", correct or delete them on the target, and run the same "+
				"command again. The Clusters stay paused until then.")
	}
	r.input.Log(fmt.Sprintf("all %d objects are on the target as they were", len(r.record)))
	return nil
}

// release creates what the objects refer to, and resumes what the restore has paused. Right before it resumes, it
// checks again whether the cluster that was backed up may act on the machines.
func (r *restoration) release(ctx context.Context, result *Result) error {
	created, warnings, err := r.references(ctx)
	result.References, result.Warnings = created, append(result.Warnings, warnings...)
	if err != nil {
		return interrupted(ctx, err, "The Clusters are paused.")
	}
	former := r.input.probeFormer(ctx)
	if err := context.Cause(ctx); err != nil { // the check was interrupted
		return interrupted(ctx, err, "The Clusters are paused.")
	}
	if err := former.refusal(r.input); err != nil {
		return fault.Wrap(fmt.Errorf("the Clusters stay paused on the target: %w", err), fault.CodeOf(err),
			fault.HintOf(err))
	}
	r.input.Log(fmt.Sprintf("resuming %d Clusters and ClusterClasses", len(r.now.pausedByRestore)))
	if err := pivot.Resume(ctx, r.input.Target, r.now.pausedByRestore); err != nil {
		return interrupted(ctx, err, "Some Clusters may be paused.")
	}
	return nil
}

// active verifies that the restored Clusters exist and are active, and returns them.
func (r *restoration) active(ctx context.Context) ([]capi.Object, error) {
	if err := r.observe(ctx); err != nil {
		return nil, interrupted(ctx, err, "All was restored.")
	}
	if r.stage != Done {
		return nil, fault.New(fault.RestoreFailed, "the Clusters were resumed, but these objects differ from the "+
			"backup on the target: "+strings.Join(r.reasons(), "; "),
			"Compare them with the backup "+r.input.Path+".")
	}
	return r.now.active, nil
}

// interrupted returns the error of a restore that a repetition continues. state says what was reached.
func interrupted(ctx context.Context, err error, state string) error {
	err = fmt.Errorf("the restore was interrupted: %w", err)
	if lost := lease.Lost(ctx); lost != nil {
		return errors.Join(lost, err)
	}
	return fault.Retryable(err, fault.RestoreFailed, state+" Run the same command again: it resumes.")
}
