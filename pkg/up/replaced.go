package up

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	built  bool  // machines of the last values exist, or may exist
}

// machines lists the machines of the cluster. Before the pivot the cluster counts as built if the provider or the
// authority lists machines, or the provider cannot. The last run may have used another provider, whose machines only
// the authority knows.
func (c changes) machines(ctx context.Context, o clusters.Observation, v verdict, authority *kube.Cluster) (
	builtMachines, error) {
	all, err := capi.Machines(ctx, authority, c.environment.ClusterNamespace())
	machines := builtMachines{err: err, built: v.decision == pivoted || len(o.Machines) > 0 || o.MachinesErr != nil}
	if err != nil && !machines.built {
		return machines, fault.Wrap(
			fmt.Errorf("look whether anything was built of the values of the last run: %w", err),
			fault.ClusterUnreachable, "Run the same command again when it can be read.")
	}
	for _, m := range all {
		if m.Cluster == c.environment.ClusterName() {
			machines.listed = append(machines.listed, m)
		}
	}
	machines.built = machines.built || len(machines.listed) > 0
	return machines, nil
}

// reportReplaced reports which machines this run replaces: those whose templates differ from the ones in the cluster.
func (m builtMachines) reportReplaced(ctx context.Context, authority *kube.Cluster, applied *environment.Environment,
	report pipeline.Reporter) error {
	wanted, err := applied.Templates()
	if err != nil {
		return err
	}
	var controlPlane, workers []string
	for i, defined := range wanted {
		stored, exists, err := storedTemplates(ctx, authority, defined.Kustomization)
		if err != nil {
			return err
		}
		if !exists || stored == defined.Templates {
			continue
		}
		if m.err != nil {
			report.Warn("this run replaces machines; which ones is not known: %v", m.err)
			return nil
		}
		for _, machine := range m.listed {
			pool := slices.IndexFunc(wanted[1:], func(d environment.Defined) bool {
				return d.Deployment == machine.Deployment
			}) + 1 // 0: the component cluster itself
			switch {
			case pool != i:
			case machine.ControlPlane && stored.ControlPlane != defined.ControlPlane:
				controlPlane = append(controlPlane, machine.Name)
			case !machine.ControlPlane && stored.Workers != defined.Workers:
				workers = append(workers, machine.Name)
			}
		}
	}
	if n := len(controlPlane) + len(workers); n > 0 {
		report.Warn("this run replaces %s: %s", oneline.Count(n, "machine"), strings.Join(slices.Concat(
			countAndNames(controlPlane, "of the control plane"), countAndNames(workers, "of workers")), "; "))
	}
	return nil
}

// storedTemplates reads the templates of machines from a Kustomization. One that does not exist has none.
func storedTemplates(ctx context.Context, authority *kube.Cluster, key client.ObjectKey) (environment.Templates, bool,
	error) {
	definition := &kustomizev1.Kustomization{}
	definition.Namespace, definition.Name = key.Namespace, key.Name
	exists, err := authority.Exists(ctx, definition)
	if err != nil {
		return environment.Templates{}, false, fault.Wrap(
			fmt.Errorf("read the templates of machines from Kustomization %s of the %s cluster: %w",
				key.Name, authority.Name, err), fault.ClusterUnreachable,
			"Run the same command again when it can be read.")
	}
	if !exists || definition.Spec.PostBuild == nil {
		return environment.Templates{}, false, nil
	}
	return environment.TemplatesOf(definition.Spec.PostBuild.Substitute), true, nil
}

// countAndNames returns the number and the names of the machines of a role, or nothing if there are none.
func countAndNames(names []string, role string) []string {
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{fmt.Sprintf("%d %s (%s)", len(names), role, strings.Join(names, ", "))}
}

// reportShellValues reports the values that this run takes from the shell. Later runs keep them.
func (c changes) reportShellValues(report pipeline.Reporter) {
	if from := c.environment.FromShell(); len(from) > 0 {
		report.Progress("taken from the shell, and kept by the cluster from now on: %s", strings.Join(from, ", "))
	}
}

// reportKept reports the values that the cluster keeps. It warns of a value of the shell that is not used.
func reportKept(report pipeline.Reporter, kept []environment.Kept) {
	for _, k := range kept {
		if k.Set {
			report.Warn("%s", k)
		} else {
			report.Progress("%s", k)
		}
	}
}
