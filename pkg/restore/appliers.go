package restore

import (
	"context"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// observeAppliers reads which Kustomizations and HelmReleases of the target would apply a release or a source that the
// restore has yet to create. They would resume one that comes back suspended, or create the Cluster before the restore.
func (r *restoration) observeAppliers(ctx context.Context) error {
	r.appliers = nil
	if !slices.ContainsFunc(r.releases, releaseObject.awaitsFlux) {
		return nil
	}
	all, err := rollout.ReadAppliers(ctx, r.input.Target.Client)
	r.appliers = all
	return err
}

// awaitsFlux reports whether the restore has yet to create an object on which Flux acts.
func (o releaseObject) awaitsFlux() bool { return o.existing == nil && !o.unserved && acts(o.saved) }

// refuseAppliers refuses while something on the target would apply a release or a source of a workload cluster.
func (r *restoration) refuseAppliers() error {
	var wrong []error
	for _, o := range r.releases {
		if !o.awaitsFlux() {
			continue
		}
		for _, a := range r.appliers.Of(health.RefOf(o.saved), o.saved.GetLabels()) {
			message := fmt.Sprintf("the %s would apply the %s as soon as the restore has created it, or before", a,
				capi.ObjectOf(o.saved))
			hint := fmt.Sprintf("Suspend the %s until you have read and resumed what comes back: %s --kubeconfig %s",
				a.Kind, a.SuspendCommand(), oneline.Shell(r.input.Target.Kubeconfig))
			wrong = append(wrong, fault.New(fault.RestoreRefused, message, hint))
		}
	}
	return fault.Join(wrong...)
}
