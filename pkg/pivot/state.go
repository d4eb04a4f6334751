package pivot

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// Phase says how far a pivot has come.
type Phase string

// The phases of a pivot.
const (
	Nothing     Phase = "nothing"     // neither side holds anything: there is nothing to pivot
	NotStarted  Phase = "not-started" // all of it is at the source, active
	Interrupted Phase = "interrupted" // somewhere in between: see Stage
	Done        Phase = "done"        // all of it is on the target, active
)

// Stage says where an interrupted pivot stands. Each follows from what clusterctl does, in its order: pause the
// source, create everything on the target, delete it from the source (owners last), resume the target.
type Stage string

// The stages of an interrupted pivot.
const (
	StageNone     Stage = ""
	StagePaused   Stage = "paused"   // the source is paused and complete, the target holds nothing
	StageCopying  Stage = "copying"  // the source is paused and complete, the target lacks some of it
	StageCopied   Stage = "copied"   // the target is paused and holds all that is left at the source
	StageResuming Stage = "resuming" // the target is paused and complete, the source holds nothing
	StageConflict Stage = "conflict" // both sides are active, or hold what no move leaves: somebody else did this
)

// Holding is what one side holds of the scope. Objects that may exist on both sides for good are not counted.
type Holding struct {
	Objects  []capi.Object
	Clusters []capi.Cluster
	// PausedClasses are the ClusterClasses that are paused.
	PausedClasses []capi.Object

	apart         map[capi.Key]bool // what need not be of a move that is under way, see apart
	markedClasses []capi.Object     // the ClusterClasses that a move of the scope has paused, and nobody has resumed
	going         bool              // something of it is being deleted
}

// Empty is whether it holds nothing at all.
func (h Holding) Empty() bool { return len(h.Objects) == 0 && len(h.Clusters) == 0 }

// Cluster returns the Cluster of the given name, nil when there is none.
func (h Holding) Cluster(name string) *capi.Cluster {
	for i := range h.Clusters {
		if h.Clusters[i].Name == name {
			return &h.Clusters[i]
		}
	}
	return nil
}

// paused says whether any Cluster is paused.
func (h Holding) paused() bool {
	for _, c := range h.Clusters {
		if c.Paused {
			return true
		}
	}
	return false
}

// active says whether any Cluster is not paused. A move pauses all of them before it creates anything.
func (h Holding) active() bool {
	for _, c := range h.Clusters {
		if !c.Paused {
			return true
		}
	}
	return false
}

// State is how far a pivot has come, told from the clusters alone.
type State struct {
	Phase          Phase
	Stage          Stage // StageNone unless interrupted
	Source, Target Holding

	scope Scope
}

// Explained is whether a move was interrupted, and an interrupted move leaves the two sides as they are. Else nobody
// but a person can know which of them counts.
func (s State) Explained() bool { return s.Phase == Interrupted && s.Stage != StageConflict }

// NothingMoved is whether the source has all of it, active, and the target nothing of that: a move deletes nothing at
// its source before it has created everything on the target.
func (s State) NothingMoved() bool {
	return s.Phase == NotStarted && len(missing(s.Source.Objects, s.Target.Objects)) == len(s.Source.Objects)
}

// ReadState looks at both sides and changes neither. A side whose Client is nil is taken for gone, which is right
// for the source after a finished pivot.
func ReadState(ctx context.Context, source, target Side, scope Scope) (State, error) {
	here, err := read(ctx, source, scope)
	if err != nil {
		return State{}, fmt.Errorf("source: %w", err)
	}
	there, err := read(ctx, target, scope)
	if err != nil {
		return State{}, fmt.Errorf("target: %w", err)
	}
	return Judge(here, there, scope), nil
}

func read(ctx context.Context, side Side, scope Scope) (Holding, error) {
	if side.Client == nil {
		return Holding{}, nil
	}
	return Hold(ctx, side.Client, scope)
}

// Judge tells how far a pivot has come from what both sides hold.
func Judge(source, target Holding, scope Scope) State {
	s := State{Source: source, Target: target, scope: scope}
	s.Phase, s.Stage = judge(source, target, scope.Cluster)
	return s
}

// Hold returns what a cluster holds of the scope. It changes nothing.
func Hold(ctx context.Context, c client.Reader, scope Scope) (Holding, error) {
	graph, err := capi.Discover(ctx, c, scope.Namespace)
	if err != nil {
		return Holding{}, err
	}
	var h Holding
	moves := graph.Moves()
	for _, o := range moves {
		if !o.Shared {
			h.Objects = append(h.Objects, o)
		}
		u, _ := graph.Get(o)
		h.going = h.going || !o.Shared && beingDeleted(u)
		if o.Kind == clusterv1.ClusterClassKind && annotations.HasPaused(u) {
			h.PausedClasses = append(h.PausedClasses, o)
			if scope.marks(u.GetAnnotations()) {
				h.markedClasses = append(h.markedClasses, o)
			}
		}
	}
	h.Clusters, err = capi.Clusters(ctx, c, scope.Namespace)
	h.apart = foreign(graph, moves, h.Clusters, scope)
	return h, err
}
