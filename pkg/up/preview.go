package up

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// PreviewPivot returns what a pivot would do with the two clusters as they are. It finds and identifies them as a run
// does. It takes no lock and no lease, starts nothing, changes nothing in the clusters, and writes no file. An error
// has the code fault.PivotRefused if a pivot cannot start, and another code if that is not known.
func (u *Run) PreviewPivot(ctx context.Context) (pivot.Preview, error) {
	d := u.decider
	if _, err := d.AskEngine(ctx); err != nil { // its machine publishes the ports of API servers
		return pivot.Preview{}, err
	}
	o, err := d.observeForPreview(ctx)
	if err != nil {
		return pivot.Preview{}, err
	}
	preview, err := pivot.NewPreview(ctx, d.Side(o.Bootstrap.Cluster), d.Side(o.Management.Cluster), u.Scope,
		o.Bootstrap.Suspended)
	if err != nil {
		return pivot.Preview{}, err
	}
	if err := preview.CheckRecord(ctx, u.StateFolder); err != nil {
		return pivot.Preview{}, err
	}
	if _, err := os.Stat(d.KubeconfigPath); errors.Is(err, fs.ErrNotExist) {
		preview.Notes = append(preview.Notes, fmt.Sprintf("%s is not there yet: cluster-init up writes it",
			d.KubeconfigPath))
	}
	if path := d.BootstrapKubeconfigPath(); d.BootstrapKubeconfig == "" && o.Bootstrap.Cluster != nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			preview.Notes = append(preview.Notes, missingKubeconfig(path, d.BootstrapName()))
		}
	}
	return preview, nil
}

// missingKubeconfig returns how to write the kubeconfig of a kind cluster again.
func missingKubeconfig(path, cluster string) string {
	return fmt.Sprintf("%s is not there: kind get kubeconfig --name %s >%s", path, cluster, oneline.Shell(path))
}

// observeForPreview observes until a preview is possible. It retries for a while if a cluster does not answer.
func (d *decider) observeForPreview(ctx context.Context) (clusters.Observation, error) {
	var notPossible error
	o, _, _, err := d.JudgeUntil(ctx, d.Observe, func(o clusters.Observation, v verdict, _ clusters.Decision) (
		done, retry bool) {
		notPossible = checkPreview(o, v, d.request(o))
		return notPossible == nil, v.retryable
	})
	if err != nil {
		return o, err
	}
	return o, notPossible
}

// checkPreview returns why no pivot can be shown: a teardown was requested, or one of the two clusters does not exist,
// is not known, or is not managed by cluster-init. A finished pivot can be shown without the bootstrap cluster.
func checkPreview(o clusters.Observation, v verdict, r request) error {
	both := o.Bootstrap.Cluster != nil && o.Management.Cluster != nil
	switch {
	// A run starts no pivot during a teardown.
	case v.decision == refuse && (o.Bootstrap.TeardownRequested || o.Management.TeardownRequested):
		return fault.Wrap(v.refusal, fault.PivotRefused, fault.HintOf(v.refusal))
	case v.decision == refuse && (!both || fault.CodeOf(v.refusal) == fault.ClusterForeign):
		return asPreviewRefusal(v.refusal)
	case both, v.decision == pivoted:
		return nil
	case v.decision == start:
		return fault.New(fault.ClusterUnreachable, "something of "+r.cluster+
			" is stopped, and its content is not known",
			"Run cluster-init up "+r.environment+", which starts it; or start its containers yourself: docker ps -a "+
				"--filter status=exited.")
	case o.Management.State == clusters.ManagementSilent:
		return fault.Retryable(fmt.Errorf("the management cluster %s does not answer: %w", r.cluster, o.Management.Err),
			fault.ClusterUnreachable,
			"Start its machines, or wait until it is there, and run the same command again.")
	}
	return fault.New(fault.PivotRefused,
		fmt.Sprintf("there is nothing to pivot yet: the management cluster %s does not exist", r.cluster),
		"Run cluster-init up "+r.environment+": it builds the management cluster, and pivots.")
}

// asPreviewRefusal gives a verdict's refusal the code of a preview. A preview tries nothing, so nothing failed.
func asPreviewRefusal(err error) error {
	if fault.CodeOf(err) != fault.PivotFailed {
		return err
	}
	return fault.Wrap(err, fault.PivotRefused, fault.HintOf(err))
}
