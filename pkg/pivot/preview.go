package pivot

import (
	"context"
	"fmt"
	"slices"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Preview is what a pivot would do, found without changing anything. It exists also if a rule refuses the pivot.
type Preview struct {
	Scope          clusters.Scope
	Source, Target clusters.Side
	State          State
	Begun          bool // Flux is suspended for a pivot, which is a pivot's first step
	// The fields below are empty if no move is ahead: it is finished, or one was interrupted.
	Groups   [][]capi.Object // as a move creates them, one group after the other
	Stays    []LeftBehind
	Refusals []*Refusal
	Notes    []string

	graph *capi.Graph
}

// NewPreview observes both sides as Run does before it changes anything, with the same rules, but without this
// machine's record of an earlier attempt. begun reports whether Flux is suspended for a pivot. An error has the code
// fault.ClusterUnreachable: a side could not be read.
func NewPreview(ctx context.Context, source, target clusters.Side, scope clusters.Scope, begun bool) (Preview, error) {
	state, err := ReadState(ctx, source, target, scope)
	if err != nil {
		return Preview{}, unreadable(err)
	}
	p := Preview{Scope: scope, Source: source, Target: target, State: state, Begun: begun}
	if p.Finished() || p.Interrupted() {
		return p, nil
	}
	guards := rules
	if begun {
		guards = slices.Concat(rulesOnRetry, []check{checkCopies(nil)})
	}
	v, refusals, err := inspect(ctx, source, target, scope, guards)
	if err != nil {
		return Preview{}, err
	}
	p.Groups, p.Stays, p.Refusals, p.graph = v.groups, v.stays, refusals, v.source
	p.Notes = v.notes()
	return p, nil
}

// Finished reports whether the target holds everything.
func (p Preview) Finished() bool { return p.State.Phase == Done }

// Interrupted reports whether an earlier move must be finished first. If a Cluster is paused and no pivot began, a
// person paused it: a rule refuses that.
func (p Preview) Interrupted() bool {
	return p.State.Phase == Interrupted && (p.Begun || p.State.Stage != StagePaused)
}

// MayStart reports whether a move may start.
func (p Preview) MayStart() bool {
	return !p.Finished() && !p.Interrupted() && len(p.Refusals) == 0
}

// Recovery returns the steps that end an interrupted move; see State.Recovery.
func (p Preview) Recovery() []Step {
	if !p.Interrupted() {
		return nil
	}
	return p.State.Recovery()
}

// CheckRecord fails where Run would: if this machine's record in dir of the interrupted move cannot be read.
func (p Preview) CheckRecord(ctx context.Context, dir string) error {
	if !p.Interrupted() {
		return nil
	}
	input := Input{Source: p.Source, Target: p.Target, Scope: p.Scope, BackupDir: dir, Log: func(string) {}}
	_, err := input.saved(ctx, p.State)
	return err
}

// Parent returns the owner below which a tree shows an object; false if it has none.
func (p Preview) Parent(o capi.Object) (capi.Object, bool) { return p.graph.Parent(o) }

// Err returns nil when a move may start or is finished. Otherwise the error has the code fault.PivotRefused, and its
// hint has commands for the environment.
func (p Preview) Err(environment string) error {
	switch {
	case p.Interrupted():
		interrupted := p.State.Err(p.Source, p.Target, p.Scope)
		hint := "Run cluster-init pivot resume " + environment + ", which ends the move, or cluster-init up " +
			environment + ", which goes on from there."
		if p.Recovery() == nil || !p.Begun {
			hint = fault.HintOf(interrupted)
		}
		return fault.Wrap(interrupted, fault.PivotRefused, hint)
	case len(p.Refusals) > 0:
		return fault.New(fault.PivotRefused, fmt.Sprintf("a move of Cluster %s/%s must not start; reasons: %d",
			p.Scope.Namespace, p.Scope.Cluster, len(p.Refusals)),
			"Put right what is listed, or wait for it, and run the same command again.")
	}
	return nil
}

// notes returns facts that a person should know and that do not block the move.
func (v *view) notes() []string {
	var notes []string
	for _, o := range v.moves {
		if u, _ := v.source.Get(o); hasKey(u.GetAnnotations(), clusterctlv1.BlockMoveAnnotation) {
			notes = append(notes, fmt.Sprintf("%s carries the annotation %s: a move waits minutes for its controller "+
				"to take it off", o, clusterctlv1.BlockMoveAnnotation))
		}
	}
	return notes
}

func hasKey(m map[string]string, key string) bool { _, exists := m[key]; return exists }
