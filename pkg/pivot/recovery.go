package pivot

import (
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Action is the action of one recovery step.
type Action string

// The actions of a recovery.
const (
	ActionResume Action = "resume" // unpause the Clusters of a side
	// move again; the source's objects overwrite those that are on the target already
	ActionMove Action = "move"
	// verify that the target holds everything unchanged, before anything is deleted or resumed
	ActionCompare Action = "compare"
	ActionDelete  Action = "delete" // delete from the source what the target has
)

// Where names a side of a pivot.
type Where string

// The sides of a pivot.
const (
	AtSource Where = "source"
	AtTarget Where = "target"
)

// Step is one step of a recovery. Run performs it, or a person does with Command.
type Step struct {
	Action Action
	Where  Where
	// Objects are the objects to resume or delete.
	Objects []capi.Object
}

// Recovery returns the steps that finish an interrupted pivot, in order. It returns nil in three cases: there is
// nothing to finish, a person has paused what must be resumed, or no interrupted move explains the two sides.
//
// It resumes only what bears the mark of this move. It resumes nothing on one side while the other could act on the
// same machines, and deletes nothing before it was compared.
func (s State) Recovery() []Step {
	switch {
	case !s.Explained(), s.sourceIsComplete() && len(s.Source.PausedByHand(s.scope)) > 0:
		return nil
	case s.sourceIsComplete():
		return []Step{{ActionResume, AtSource, s.Source.PausedByMove(s.scope)}, {ActionMove, AtTarget, nil}}
	case !s.pausedByMove():
		return nil
	}
	resume := Step{ActionResume, AtTarget, s.Target.PausedByMove(s.scope)}
	if s.Stage == StageResuming {
		return []Step{{ActionCompare, AtTarget, nil}, resume}
	}
	return []Step{{ActionCompare, AtTarget, nil}, {ActionDelete, AtSource, s.Source.Objects}, resume}
}

// pausedByMove reports whether a move has paused the management cluster's own Cluster on the target. Without the mark,
// a finished pivot whose Cluster a person paused later would look the same.
func (s State) pausedByMove() bool {
	return slices.ContainsFunc(s.Target.PausedByMove(s.scope),
		func(o capi.Object) bool { return s.scope.IsOwnCluster(o) })
}

// sourceIsComplete reports whether the source is complete, so that a repeated move is safe: nothing of it is deleted,
// or marked for deletion.
func (s State) sourceIsComplete() bool {
	if s.Stage == StagePaused || s.Stage == StageCopying { // not everything was created on the target
		return true
	}
	return s.Stage == StageCopied && len(missing(s.Target.Moved(), s.Source.Objects)) == 0 && !s.Source.BeingDeleted
}

// Err returns nil unless the pivot is interrupted. Then the error has the code fault.PivotFailed and reports what is
// where; its hint holds the commands that finish the pivot. The commands name the kubeconfig files of the two sides.
func (s State) Err(source, target clusters.Side, scope clusters.Scope) error {
	if s.Phase != Interrupted {
		return nil
	}
	err := fmt.Errorf("an earlier move of Cluster %s/%s was interrupted (%s): %d of its objects are at the source, %d "+
		"on the target",
		scope.Namespace, scope.Cluster, s.Stage, len(s.Source.Objects), len(s.Target.Objects))
	return fault.Wrap(err, fault.PivotFailed, s.wayOut(source, target))
}

// wayOut returns what a person does. What a recovery would delete at the source stays there, paused: it is deleted with
// the bootstrap cluster.
func (s State) wayOut(source, target clusters.Side) string {
	if !s.Explained() {
		pause := " patch clusters.cluster.x-k8s.io " + s.scope.Cluster + ` --type merge -p '{"spec":{"paused":true}}'`
		return "Two clusters may be managing the same machines. Pause both sides, compare them, delete nothing, and keep " +
			"the backup:\n" +
			joinLines(Kubectl(source, s.scope)+pause, Kubectl(target, s.scope)+pause,
				Kubectl(source, s.scope)+" get cluster-api", Kubectl(target, s.scope)+" get cluster-api")
	}
	steps := s.Recovery()
	lines := []string{s.whatIsWhere() + " To end it by hand:"}
	switch {
	case steps == nil && s.sourceIsComplete():
		lines = []string{"Something is paused at the source without the mark of the move: a person paused it. If " +
			"nobody needs it paused, resume it:"}
		steps = []Step{s.resumeByHand()}
	case steps == nil:
		lines = []string{"The target has everything, paused without the mark of the move: a person paused it. If " +
			"nobody needs it paused, resume it:"}
		steps = []Step{s.resumeByHand()}
	}
	for _, step := range steps {
		// in StagePaused nothing is half done, and a run moves by itself
		if s.Stage != StagePaused || step.Action == ActionResume {
			lines = append(lines, step.Command(source, target, s.scope))
		}
	}
	return joinLines(append(lines, "Then run the same command again.")...)
}

// resumeByHand returns the step that resumes what a person has paused. A recovery does not take it. Once the own
// Cluster is active, the next run resumes what the move has paused.
func (s State) resumeByHand() Step {
	if s.sourceIsComplete() {
		return Step{ActionResume, AtSource, s.Source.PausedByHand(s.scope)}
	}
	return Step{ActionResume, AtTarget, s.Target.PausedByHand(s.scope)}
}

// whatIsWhere describes how far an interrupted move came.
func (s State) whatIsWhere() string {
	switch {
	case s.Stage == StagePaused:
		return "Nothing was moved yet, the Clusters are only paused."
	case s.sourceIsComplete():
		return "The source still has everything."
	case s.Stage == StageCopied:
		return "The target has everything, paused. Do not resume what is left at the source."
	}
	return "The target has everything, paused."
}

// Command returns the command for a step; "" if a person need not do it.
func (s Step) Command(source, target clusters.Side, scope clusters.Scope) string {
	side := map[Where]clusters.Side{AtSource: source, AtTarget: target}[s.Where]
	switch s.Action {
	case ActionMove:
		return "clusterctl move" + option("--kubeconfig", source.Kubeconfig) + option("--to-kubeconfig",
			target.Kubeconfig) + " -n " + scope.Namespace
	case ActionResume:
		var lines []string
		for _, o := range s.Objects {
			lines = append(lines, Kubectl(side, scope)+" patch "+resumable[o.Kind]+" "+o.Name+` --type merge -p '`+
				resumed(o)+`'`)
		}
		return strings.Join(lines, "\n")
	}
	return ""
}

// ResumeCommand returns the command with which a person resumes a Cluster on a side, however it was paused.
func ResumeCommand(side clusters.Side, scope clusters.Scope) string {
	own := capi.Object{Kind: clusterv1.ClusterKind, Namespace: scope.Namespace, Name: scope.Cluster}
	return Step{ActionResume, AtSource, []capi.Object{own}}.Command(side, clusters.Side{}, scope)
}

// resumable are the resources that a move pauses, by kind.
var resumable = map[string]string{clusterv1.ClusterKind: "clusters.cluster.x-k8s.io",
	"ClusterClass": "clusterclasses.cluster.x-k8s.io"}

// resumed returns the patch that resumes a Cluster, or a ClusterClass, which only has the annotation.
func resumed(o capi.Object) string {
	annotations := `"metadata":{"annotations":{"` + clusterv1.PausedAnnotation + `":null,"` + owned.PivotAnnotation +
		`":null}}`
	if o.Kind == clusterv1.ClusterKind {
		return `{"spec":{"paused":null},` + annotations + `}`
	}
	return `{` + annotations + `}`
}

// Kubectl returns the beginning of a kubectl command for a side.
func Kubectl(side clusters.Side, scope clusters.Scope) string {
	return "kubectl" + option("--kubeconfig", side.Kubeconfig) + " -n " + scope.Namespace
}

func option(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + " '" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

func joinLines(lines ...string) string {
	var kept []string
	for _, l := range lines {
		if l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "\n")
}
