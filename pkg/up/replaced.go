package up

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// builtMachines are the machines of the cluster, as the authoritative cluster lists them.
type builtMachines struct {
	listed []capi.Machine
	err    error // why they could not be listed
	built  bool  // whether anything was built with the last values
}

// machines lists the machines of the cluster. Before the pivot it is enough that the provider reports some. The cluster
// may have been built with another provider than this run's. Only the bootstrap cluster knows those machines.
func (c changes) machines(ctx context.Context, o clusters.Observation, v verdict, counts *kube.Cluster) (builtMachines,
	error) {
	all, err := capi.Machines(ctx, counts, "")
	found := builtMachines{err: err, built: v.decision == pivoted || len(o.Machines) > 0 || o.MachinesErr != nil}
	if err != nil && !found.built {
		return found, fault.Wrap(fmt.Errorf("look whether anything was built of the values of the last run: %w", err),
			fault.ClusterUnreachable,
			"Run the same command again when it can be read.")
	}
	for _, m := range all {
		if m.Cluster == c.environment.ClusterName() {
			found.listed = append(found.listed, m)
		}
	}
	found.built = found.built || len(found.listed) > 0
	return found, nil
}

// sayReplaced reports which machines this run replaces: those whose templates differ from the ones in the cluster.
func (m builtMachines) sayReplaced(ctx context.Context, counts *kube.Cluster, applied *environment.Environment,
	report pipeline.Reporter) error {
	wanted, key, err := applied.Templates()
	if err != nil {
		return err
	}
	definition := &kustomizev1.Kustomization{}
	definition.Namespace, definition.Name = key.Namespace, key.Name
	there, err := counts.Exists(ctx, definition)
	if err != nil {
		return fault.Wrap(fmt.Errorf("read the templates of machines from Kustomization %s of the %s cluster: %w",
			key.Name, counts.Name, err), fault.ClusterUnreachable,
			"Run the same command again when it can be read.")
	}
	if !there || definition.Spec.PostBuild == nil {
		return nil
	}
	has := environment.TemplatesOf(definition.Spec.PostBuild.Substitute)
	if has == wanted {
		return nil
	}
	if m.err != nil {
		report.Warn("this run replaces machines; which ones is not known: %v", m.err)
		return nil
	}
	var controlPlane, workers []string
	for _, machine := range m.listed {
		switch {
		case machine.ControlPlane && has.ControlPlane != wanted.ControlPlane:
			controlPlane = append(controlPlane, machine.Name)
		case !machine.ControlPlane && has.Workers != wanted.Workers:
			workers = append(workers, machine.Name)
		}
	}
	if n := len(controlPlane) + len(workers); n > 0 {
		report.Warn("this run replaces %s: %s", oneline.Count(n, "machine"), strings.Join(slices.Concat(
			named(controlPlane, "of the control plane"), named(workers, "of workers")), "; "))
	}
	return nil
}

// named returns the number and the names of the machines of a sort, or nothing if there are none.
func named(names []string, sort string) []string {
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{fmt.Sprintf("%d %s (%s)", len(names), sort, strings.Join(names, ", "))}
}

// sayShell reports the values that the cluster takes from the shell and keeps.
func (c changes) sayShell(report pipeline.Reporter) {
	if from := c.environment.FromShell(); len(from) > 0 {
		report.Progress("taken from the shell, and kept by the cluster from now on: %s", strings.Join(from, ", "))
	}
}

// sayKept reports the values that the cluster keeps. It warns of a value of the shell that is not used.
func sayKept(report pipeline.Reporter, kept []environment.Kept) {
	for _, k := range kept {
		if k.Set {
			report.Warn("%s", k)
		} else {
			report.Progress("%s", k)
		}
	}
}
