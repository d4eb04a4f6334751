package pivot

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// mark is on what a move of the scope has paused, on either side.
func (s Scope) mark() capi.Mark {
	return capi.Mark{Key: owned.PivotAnnotation, Value: owned.SuspendedFor(s.Namespace, s.Cluster)}
}

// marks is whether annotations hold the mark. That of a move of another management cluster is none.
func (s Scope) marks(annotations map[string]string) bool {
	mark := s.mark()
	return annotations[mark.Key] == mark.Value
}

// PausedByHand reports whether the management cluster's own Cluster is paused and bears no mark of a move: a person did
// that, and only a person takes it back.
func (h Holding) PausedByHand(scope Scope) bool {
	own := h.Cluster(scope.Cluster)
	return own != nil && own.Paused && !scope.marks(own.Annotations)
}

// pausedByMove are the ClusterClasses and Clusters that a move of the scope has paused, and nobody has resumed.
func (h Holding) pausedByMove(scope Scope) []capi.Object {
	all := slices.Clone(h.markedClasses)
	for _, c := range h.Clusters {
		if c.Paused && scope.marks(c.Annotations) {
			all = append(all, c.Object)
		}
	}
	return all
}

// pausedByHand are the Clusters and ClusterClasses that are paused and bear no mark of a move.
func (h Holding) pausedByHand(scope Scope) []capi.Object {
	byMove := h.pausedByMove(scope)
	return slices.DeleteFunc(h.pausedObjects(), func(o capi.Object) bool { return slices.Contains(byMove, o) })
}

// ResumeMarked resumes what a finished move has left paused on its target: it was killed between the Clusters of the
// namespace that it resumes. What a person has paused stays so.
func ResumeMarked(ctx context.Context, target Side, scope Scope) error {
	holding, err := Hold(ctx, target.Client, scope)
	if err != nil {
		return fmt.Errorf("see what is paused on the target: %w", err)
	}
	if own := holding.Cluster(scope.Cluster); own == nil || own.Paused { // then it is not finished
		return nil
	}
	if err := resume(ctx, target, holding.pausedByMove(scope)); err != nil {
		return retryable(fmt.Errorf("resume the target: %w", err))
	}
	return nil
}

// PausedBeside returns the step that resumes what is paused on a target beside the management cluster's own Cluster:
// other Clusters of its namespace, and ClusterClasses. A move pauses these too, and one that another machine or a
// person has finished may have left them so; but whoever they belong to may have paused them. It has no objects where
// none is.
func PausedBeside(ctx context.Context, target client.Client, scope Scope) (Step, error) {
	holding, err := Hold(ctx, target, scope)
	if err != nil {
		return Step{}, fmt.Errorf("see what is paused on the target: %w", err)
	}
	beside := slices.DeleteFunc(holding.pausedObjects(), func(o capi.Object) bool { return isOwnCluster(o, scope) })
	return Step{Action: ActionResume, Where: AtTarget, Objects: beside}, nil
}
