package up

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// RollbackPhases returns the phases that move the definition back into the bootstrap cluster, in order. A rollback is a
// pivot with the sides exchanged, except that the source's providers and Machines need not be ready. If it is killed,
// the next rollback finishes it, or `up` moves the definition into the management cluster again.
func (u *Run) RollbackPhases() []pipeline.Phase {
	r := rollback{decider: u.decider, move: u.pivotMove(), environment: u.Environment.Argument()}
	return []pipeline.Phase{
		{Name: "look", Title: "look whether the pivot can be undone", Timeout: 10 * time.Minute, Looks: true,
			Run: r.look},
		{Name: "rollback", Title: "move the definition back", Timeout: 10 * time.Minute, Run: r.run},
	}
}

// rollback undoes a pivot while the bootstrap cluster exists and the management cluster is unhealthy.
type rollback struct {
	decider     *decider
	move        pivotMove
	environment string
}

func (r rollback) look(ctx context.Context, report pipeline.Reporter) error {
	if _, err := r.decider.AskEngine(ctx); err != nil {
		return err
	}
	o, v, err := r.decider.DecideLeased(ctx, report)
	if err != nil {
		return err
	}
	resuming := rollbackBegun(o, r.move.scope)
	if err := checkRollback(o, v, resuming, r.environment); err != nil {
		return err
	}
	if resuming {
		report.Progress("an earlier rollback was interrupted: it is finished")
		return r.decider.UseAndSave(o)
	}
	if err := r.requireUnhealthy(ctx, o.Management.Cluster, report); err != nil {
		return err
	}
	return r.decider.UseAndSave(o)
}

// rollbackBegun reports whether an earlier rollback has begun to move. Suspended Flux does not prove it: the rollback
// may have been killed or refused right after that. The management cluster may be healthy again since.
func rollbackBegun(o clusters.Observation, scope clusters.Scope) bool {
	return o.Management.Suspended && !pivot.Judge(o.Management.Holds, o.Bootstrap.Holds, scope).NothingMoved()
}

// checkRollback returns why a pivot cannot be undone. Both clusters must answer. Unless this run resumes an earlier
// rollback, the management cluster must hold the whole definition.
func checkRollback(o clusters.Observation, v verdict, resuming bool, environment string) error {
	switch {
	case o.Bootstrap.Cluster == nil:
		return fault.New(fault.PivotRefused, "there is no bootstrap cluster any more that the definition could be "+
			"moved back into",
			"Put right what is wrong with the management cluster: it holds its own definition.")
	case o.Management.Cluster == nil:
		return fault.New(fault.PivotRefused, "no pivot was made: "+v.reason, "Run cluster-init up "+environment+".")
	case resuming, v.decision == pivoted && o.Bootstrap.State == clusters.BootstrapMoved:
		return nil
	case v.decision == finish:
		return fault.New(fault.PivotRefused, "the pivot is not finished: "+v.reason,
			"Run cluster-init pivot resume "+environment+" first. What was moved is complete on one side only then.")
	}
	return fault.New(fault.PivotRefused, "there is no finished pivot to undo: "+v.reason, "Run cluster-init up "+
		environment+" to continue.")
}

// requireUnhealthy refuses to take the definition away from a management cluster that manages itself.
func (r rollback) requireUnhealthy(ctx context.Context, management *kube.Cluster, report pipeline.Reporter) error {
	kustomizations, suspended, err := unsuspended(ctx, management, r.move.scope)
	if err != nil {
		return err
	}
	unmet, err := selfmanaged.Check(ctx, management.Client, r.move.scope, kustomizations)
	if err != nil {
		return err
	}
	if len(unmet) == 0 {
		hint := "If the cluster is not needed any more: cluster-init cleanup " + r.environment + "."
		if suspended {
			hint = "Run cluster-init up " + r.environment + ": it resumes what an earlier rollback has suspended in " +
				"it. " + hint
		}
		return fault.New(fault.PivotRefused, "the management cluster is well, and manages itself: there is no reason "+
			"to undo the pivot", hint)
	}
	for _, u := range unmet {
		report.Progress("the management cluster is not well: %s", u)
	}
	return nil
}

// unsuspended returns the Kustomizations of a cluster that no rollback has suspended, and reports whether one has
// suspended others. A suspended Kustomization says nothing about the cluster's health.
func unsuspended(ctx context.Context, c *kube.Cluster, scope clusters.Scope) (left []client.ObjectKey, suspended bool,
	err error) {
	all, err := flux.Kustomizations(ctx, c)
	if err != nil {
		return nil, false, fmt.Errorf("list the Kustomizations of the %s cluster: %w", c.Name, err)
	}
	for _, k := range all {
		if k.Spec.Suspend && k.Annotations[owned.SuspendedAnnotation] == owned.SuspendedFor(scope.Namespace,
			scope.Cluster) {
			suspended = true
			continue
		}
		left = append(left, client.ObjectKeyFromObject(&k))
	}
	return left, suspended, nil
}

func (r rollback) run(ctx context.Context, report pipeline.Reporter) error {
	bootstrap, bootstrapErr := r.decider.Connected(clusters.BootstrapName)
	management, managementErr := r.decider.Connected(clusters.ManagementName)
	if err := errors.Join(bootstrapErr, managementErr); err != nil {
		return err
	}
	if err := r.decider.KeepBootstrapKubeconfig(bootstrap); err != nil {
		return err
	}
	input := r.move.input(management, bootstrap, report)
	input.Back = true
	result, err := pivot.Run(ctx, input)
	if err != nil {
		return err
	}
	// Only now may Flux in the bootstrap cluster reconcile the definition again.
	if err := resumeBootstrap(ctx, bootstrap, r.move.scope); err != nil {
		return err
	}
	if result.Already {
		report.Progress("an earlier rollback has moved it")
		return r.move.verifyBackup(ctx, clusters.BootstrapName)
	}
	report.Progress("moved %s back into the bootstrap cluster", oneline.Count(len(result.Moved), "object"))
	return nil
}

// resumeBound bounds resuming Flux after the move, which an interrupt does not end.
const resumeBound = 2 * time.Minute

// resumeBootstrap resumes Flux in the bootstrap cluster after the move, also when the user has interrupted the run.
func resumeBootstrap(ctx context.Context, bootstrap *kube.Cluster, scope clusters.Scope) error {
	ctx, cancel := context.WithTimeout(lease.DetachUntilLost(ctx), resumeBound)
	defer cancel()
	if err := clusters.Suspension(bootstrap, scope).Resume(ctx); err != nil {
		return fault.Retryable(fmt.Errorf("resume Flux in the bootstrap cluster: %w", err), fault.PivotFailed,
			"The definition was moved back. Run the same command again.")
	}
	return nil
}
