package pivot

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// ResumeMarked resumes what a finished move has left paused on its target, because the move was killed while it resumed
// the Clusters of the namespace. What a person has paused stays paused.
func ResumeMarked(ctx context.Context, target clusters.Side, scope clusters.Scope) error {
	holding, err := clusters.Hold(ctx, target.Client, scope)
	if err != nil {
		return fmt.Errorf("see what is paused on the target: %w", err)
	}
	if own := holding.Cluster(scope.Cluster); own == nil || own.Paused { // the move is not finished
		return nil
	}
	if err := Resume(ctx, target, holding.PausedByMove(scope)); err != nil {
		return retryable(fmt.Errorf("resume the target: %w", err))
	}
	return nil
}

// PausedBeside returns the step that resumes what is paused on a target next to the management cluster's own Cluster:
// other Clusters of its namespace, and ClusterClasses. A move pauses these too, and may have left them paused if
// another machine or a person finished it. Their owner may also have paused them. The step has no objects if nothing
// else is paused.
func PausedBeside(ctx context.Context, target client.Client, scope clusters.Scope) (Step, error) {
	holding, err := clusters.Hold(ctx, target, scope)
	if err != nil {
		return Step{}, fmt.Errorf("see what is paused on the target: %w", err)
	}
	beside := slices.DeleteFunc(holding.Paused(), scope.IsOwnCluster)
	return Step{Action: ActionResume, Where: AtTarget, Objects: beside}, nil
}
