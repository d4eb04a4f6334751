package pivot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// recover finishes an interrupted pivot, whichever machine began it. Once the source may have lost something, the
// remaining steps run even if ctx is cancelled. Until then the move is repeated, and ctx counts until that has started.
func (input Input) recover(ctx context.Context, state State) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	input.Log(fmt.Sprintf("an earlier move was interrupted (%s): finishing it", state.Stage))
	saved, err := input.saved(ctx, state)
	if err != nil {
		return Result{}, err
	}
	steps := state.Recovery()
	switch {
	case steps == nil && state.sourceIsComplete():
		return Result{}, input.pausedByHand(state)
	case steps == nil:
		return Result{}, input.stop(state, nil, "its Cluster on the target is paused without the mark of the move: a "+
			"person has paused it")
	case steps[0].Where == AtSource:
		return input.retryMove(ctx, state, saved, steps[0].Objects)
	}
	detached, cancel := context.WithTimeout(lease.DetachUntilLost(ctx),
		afterMoveTimeout(max(len(state.Source.Objects), len(state.Target.Objects))))
	defer cancel()
	return input.finish(detached, state, saved, steps)
}

// pausedByHand refuses to resume or move what a person has paused at the source since the move began.
func (input Input) pausedByHand(state State) error {
	var refusals []*Refusal
	for _, o := range state.Source.PausedByHand(input.Scope) {
		refusals = append(refusals, pausedAtSource(o, input.Source, input.Target, input.Scope))
	}
	err := refusedBy(input.Scope, refusals)
	return fault.Wrap(err, fault.CodeOf(err), "Nothing was moved. If nobody needs it paused, resume it, and run the "+
		"same command again:\n"+
		Step{ActionResume, AtSource, state.Source.PausedByHand(input.Scope)}.Command(input.Source, input.Target,
			input.Scope))
}

// saved returns the record of the interrupted move, or nil if another machine began it. It also returns nil if the
// record is of an earlier cluster of the same name, or if a person has resumed the source since. Then only the current
// state counts.
func (input Input) saved(ctx context.Context, state State) (*record.Record, error) {
	path, err := record.Newest(input.BackupDir, input.Scope.Cluster)
	if err != nil || path == "" {
		return nil, err
	}
	r, err := record.Read(path)
	if err != nil {
		return nil, fault.Wrap(err, fault.PivotFailed, "Nothing was changed. If no file of an earlier version or of "+
			"another cluster is to be kept, remove "+record.Marker(path)+", and run the same command again: it "+
			"compares what is left at the source.")
	}
	other, err := r.OfPreviousCluster(ctx, input.Scope, input.Source, input.Target)
	switch {
	case err != nil:
		return nil, retryable(err)
	case other:
		input.Log("the backup " + path + " is of an earlier cluster of this name: it is not compared")
		return nil, nil
	case r.SourceResumedSince(state.Source, input.Scope):
		input.Log("the source was resumed since the backup " + path + ": it is not compared")
		return nil, nil
	}
	return r, nil
}

// retryMove resumes the source, which is complete, and repeats the move. It suspends Flux first, because the source
// acts again for a moment.
func (input Input) retryMove(ctx context.Context, state State, saved *record.Record, paused []capi.Object) (Result,
	error) {
	graph, err := capi.Discover(ctx, input.Source.Client, input.Scope.Namespace)
	if err != nil {
		return Result{}, retryable(fmt.Errorf("read the source: %w", err))
	}
	if lost := missing(saved.Objects(), graph.All()); len(lost) > 0 {
		return Result{}, input.stop(state, saved, fmt.Sprintf("the source, which should still have everything, lacks "+
			"%s", lost[0]))
	}
	input.keepSuspended = true
	if err := input.Flux.Suspend(ctx); err != nil {
		return Result{}, retryable(fmt.Errorf("suspend Flux before the move: %w", err))
	}
	if err := Resume(ctx, input.Source, paused); err != nil {
		return Result{}, retryable(fmt.Errorf("resume the source of the interrupted move: %w", err))
	}
	// The source was paused until now: its controllers may have to report its state again.
	plan, err := input.planPatiently(ctx, input.guards(true, saved), anyRefusal)
	if err != nil {
		return Result{}, err
	}
	return input.backUpAndMove(ctx, plan)
}

// finish performs the remaining steps: the target is complete.
func (input Input) finish(ctx context.Context, state State, saved *record.Record, steps []Step) (Result, error) {
	left, err := input.leftAtSource(ctx, state)
	if err != nil {
		return Result{}, retryable(err)
	}
	for _, step := range steps {
		var wrong []string
		switch step.Action {
		case ActionCompare:
			wrong, err = input.differing(ctx, saved, left)
		case ActionDelete:
			err = deleteAll(ctx, input.Source, left, state.Source.Foreign)
		case ActionResume:
			err = Resume(ctx, input.Target, step.Objects)
		default:
			err = errors.ErrUnsupported // an unknown step
		}
		if err != nil {
			return Result{}, retryable(fmt.Errorf("%s at the %s: %w", step.Action, step.Where, err))
		}
		if len(wrong) > 0 {
			return Result{}, input.stop(state, saved, "the target differs from what was moved: "+
				strings.Join(wrong, "; "))
		}
	}
	input.Log(fmt.Sprintf("the target has all of it, %d objects that were left at the source are deleted", len(left)))
	result := Result{Moved: state.Target.Objects}
	if saved == nil { // what the source had lost was not compared: a machine with the backup still can
		return result, record.Forget(input.BackupDir, input.Scope.Cluster)
	}
	result.Backup = saved.Path
	// everything that the record has was just compared
	return result, markVerified(ctx, input.Target, input.Scope, input.BackupDir, saved.Objects())
}

// differing compares the target with the moved objects, each in its newest known state: what the source still has is
// newer than the backup.
func (input Input) differing(ctx context.Context, saved *record.Record, left []*unstructured.Unstructured) ([]string,
	error) {
	d := record.NewDigester()
	newest := map[capi.Key]bool{}
	var now []record.Entry
	for _, u := range left {
		now = append(now, d.Entry(capi.ObjectOf(u), u))
		newest[capi.ObjectOf(u).Key()] = true
	}
	wrong, err := record.Compare(ctx, input.Target, d, now, false)
	if err != nil || saved == nil {
		return wrong, err
	}
	gone := slices.DeleteFunc(slices.Clone(saved.Entries),
		func(o record.Entry) bool { return newest[o.Object().Key()] })
	more, err := record.Compare(ctx, input.Target, saved.Key, gone, false)
	return slices.Concat(wrong, more), err
}

func retryable(err error) error {
	return fault.Retryable(err, fault.PivotFailed, "Run the same command again: it goes on from here.")
}

// stop refuses to continue if a person has to compare. Nothing was changed.
func (input Input) stop(state State, saved *record.Record, why string) error {
	keep := "Nothing was changed. Compare both clusters:\n" + joinLines(
		Kubectl(input.Source, input.Scope)+" get cluster-api", Kubectl(input.Target, input.Scope)+" get cluster-api")
	if saved != nil {
		keep += "\nWhat was there before the move is in " + record.WhereIs(saved.Path) + "."
	}
	resume := Step{ActionResume, AtTarget, state.Target.Paused()}.Command(input.Source, input.Target, input.Scope)
	switch {
	case resume == "":
		keep += "\nPut back what is missing, in the cluster where it was, and run the same command again."
	case saved != nil:
		keep += "\nWhen the target has all that is needed, resume it:\n" + resume + "\nand remove " +
			record.Marker(saved.Path) + "."
	default:
		keep += "\nWhen the target has all that is needed, resume it:\n" + resume
	}
	return fault.New(fault.PivotFailed, fmt.Sprintf("an earlier move of Cluster %s/%s was interrupted (%s), and %s",
		input.Scope.Namespace, input.Scope.Cluster, state.Stage, why), keep)
}

// leftAtSource reads the objects that the source still has.
func (input Input) leftAtSource(ctx context.Context, state State) ([]*unstructured.Unstructured, error) {
	if input.Source.Client == nil || len(state.Source.Objects) == 0 {
		return nil, nil
	}
	graph, err := capi.Discover(ctx, input.Source.Client, input.Scope.Namespace)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	var left []*unstructured.Unstructured
	for _, o := range state.Source.Objects {
		if u, there := graph.Get(o); there {
			left = append(left, u)
		}
	}
	return left, nil
}

// Resume unpauses Clusters and ClusterClasses, in their order.
func Resume(ctx context.Context, side clusters.Side, clusters []capi.Object) error {
	for _, o := range clusters {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(o.APIVersion)
		u.SetKind(o.Kind)
		u.SetNamespace(o.Namespace)
		u.SetName(o.Name)
		if err := side.Client.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(resumed(o)))); err != nil {
			return fmt.Errorf("resume %s: %w", o, err)
		}
	}
	return nil
}

// deleteAll deletes objects as a move does: immediately and without their finalizers' work, because the target manages
// what they stand for. What belongs to a Cluster is deleted first, so that the next run sees the deletion. Clusters are
// deleted last: while a Cluster exists, its controllers know that it is paused.
func deleteAll(ctx context.Context, side clusters.Side, objects []*unstructured.Unstructured,
	apart map[capi.Key]bool) error {
	rank := func(u *unstructured.Unstructured) int {
		switch {
		case u.GetKind() == clusterv1.ClusterKind:
			return 2
		case apart[capi.ObjectOf(u).Key()]:
			return 1
		}
		return 0
	}
	objects = slices.Clone(objects)
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	for _, u := range objects {
		if err := deleteOne(ctx, side.Client, u); err != nil {
			return fmt.Errorf("delete %s: %w", capi.ObjectOf(u), err)
		}
	}
	return nil
}

func deleteOne(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
	u = u.DeepCopy()
	// Webhooks check the mark. Finalizers are removed before the deletion, so that no controller acts on it, and again
	// after it, in case a controller has added its own again.
	release := fmt.Sprintf(`{"metadata":{"annotations":{%q:""},"finalizers":[]}}`, clusterctlv1.DeleteForMoveAnnotation)
	patch := func() error { return c.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(release))) }
	for _, step := range []func() error{patch, func() error { return c.Delete(ctx, u) }, patch} {
		if err := client.IgnoreNotFound(step()); err != nil {
			return err
		}
	}
	return nil
}
