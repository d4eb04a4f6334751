package pivot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Action is what one step of a recovery does.
type Action string

// The actions of a recovery.
const (
	ActionResume  Action = "resume"  // unpause the Clusters of a side
	ActionMove    Action = "move"    // move again; what is on the target already is overwritten with what the source has
	ActionCompare Action = "compare" // see that the target has all of it as it was, before anything is deleted or resumed
	ActionDelete  Action = "delete"  // delete from the source what the target has
)

// Where names a side of a pivot.
type Where string

// The sides of a pivot.
const (
	AtSource Where = "source"
	AtTarget Where = "target"
)

// Step is one step of a recovery, which a person can do with Command. Run does the same by itself, but moves again wherever the source still
// has everything.
type Step struct {
	Action Action
	Where  Where
	// Objects are those that are resumed or deleted.
	Objects []capi.Object
}

// Recovery returns what ends an interrupted pivot, in order; nil where there is nothing to end, and where the sides disagree in a way that
// no interrupted move leaves: then nobody but a person can know which of them counts.
//
// Nothing is resumed on one side while the other could act on the same machines, and nothing is deleted before it was compared.
func (s State) Recovery() []Step {
	switch s.Stage {
	case StagePaused, StageCopying: // the source has everything, and the target is paused or has no Cluster yet
		return []Step{{ActionResume, AtSource, s.Source.pausedObjects()}, {ActionMove, AtTarget, nil}}
	case StageCopied:
		return []Step{{ActionCompare, AtTarget, nil}, {ActionDelete, AtSource, s.Source.Objects}, {ActionResume, AtTarget, s.Target.pausedObjects()}}
	case StageResuming:
		return []Step{{ActionCompare, AtTarget, nil}, {ActionResume, AtTarget, s.Target.pausedObjects()}}
	}
	return nil
}

// pausedObjects are what a move pauses: Clusters, and the ClusterClasses before them.
func (h Holding) pausedObjects() []capi.Object {
	objects := slices.Clone(h.PausedClasses)
	for _, c := range h.Clusters {
		if c.Paused {
			objects = append(objects, c.Object)
		}
	}
	return objects
}

// PausedBeside returns the step that resumes what is paused on a target beside the management cluster's own Cluster: other Clusters of its
// namespace, and ClusterClasses. A move pauses these too, and one that another machine or a person has finished may have left them so; but
// whoever they belong to may have paused them. It has no objects where none is.
func PausedBeside(ctx context.Context, target client.Client, scope Scope) (Step, error) {
	holding, err := Hold(ctx, target, scope)
	if err != nil {
		return Step{}, fmt.Errorf("see what is paused on the target: %w", err)
	}
	beside := slices.DeleteFunc(holding.pausedObjects(), func(o capi.Object) bool { return isOwnCluster(o, scope) })
	return Step{Action: ActionResume, Where: AtTarget, Objects: beside}, nil
}

// Err returns nil unless the pivot is interrupted. Then it is a fault with the code fault.PivotFailed which says what
// is where; its hint holds the commands that lead out. The commands name the kubeconfig files of the two sides.
func (s State) Err(source, target Side, scope Scope) error {
	if s.Phase != Interrupted {
		return nil
	}
	err := fmt.Errorf("an earlier move of Cluster %s/%s was interrupted (%s): %d of its objects are at the source, %d on the target",
		scope.Namespace, scope.Cluster, s.Stage, len(s.Source.Objects), len(s.Target.Objects))
	return fault.Wrap(err, fault.PivotFailed, s.wayOut(source, target, scope))
}

// wayOut is what a person does. What is deleted at the source by a recovery stays there, paused: it goes with the bootstrap cluster.
func (s State) wayOut(source, target Side, scope Scope) string {
	steps := s.Recovery()
	if steps == nil {
		return "Two clusters may be managing the same machines. Pause the one that should not, compare both, and keep the backup:\n" +
			joinLines(Kubectl(source, scope)+" get cluster-api", Kubectl(target, scope)+" get cluster-api",
				Kubectl(source, scope)+" patch clusters.cluster.x-k8s.io "+scope.Cluster+` --type merge -p '{"spec":{"paused":true}}'`)
	}
	lines := []string{map[Stage]string{
		StagePaused:   "Nothing was moved yet, the Clusters are only paused.",
		StageCopying:  "The source still has everything.",
		StageCopied:   "The target has everything, paused. Do not resume what is left at the source.",
		StageResuming: "The target has everything, paused.",
	}[s.Stage] + " To end it by hand:"}
	for _, step := range steps {
		if s.Stage != StagePaused || step.Action == ActionResume { // then nothing is half done, and a run moves by itself
			lines = append(lines, step.Command(source, target, scope))
		}
	}
	return joinLines(append(lines, "Then run the same command again.")...)
}

// Command is how a person does a step; "" where a person need not.
func (s Step) Command(source, target Side, scope Scope) string {
	side := map[Where]Side{AtSource: source, AtTarget: target}[s.Where]
	switch s.Action {
	case ActionMove:
		return "clusterctl move" + option("--kubeconfig", source.Kubeconfig) + option("--to-kubeconfig", target.Kubeconfig) + " -n " + scope.Namespace
	case ActionResume:
		var lines []string
		for _, o := range s.Objects {
			lines = append(lines, Kubectl(side, scope)+" patch "+resumable[o.Kind]+" "+o.Name+` --type merge -p '`+resumed(o)+`'`)
		}
		return strings.Join(lines, "\n")
	}
	return ""
}

// resumable are the resources that a move pauses, by kind.
var resumable = map[string]string{clusterv1.ClusterKind: "clusters.cluster.x-k8s.io", "ClusterClass": "clusterclasses.cluster.x-k8s.io"}

// resumed is the patch that resumes a Cluster, or a ClusterClass, which only has the annotation.
func resumed(o capi.Object) string {
	annotation := `"metadata":{"annotations":{"` + clusterv1.PausedAnnotation + `":null}}`
	if o.Kind == clusterv1.ClusterKind {
		return `{"spec":{"paused":null},` + annotation + `}`
	}
	return `{` + annotation + `}`
}

// Kubectl is how a person's command for a side begins.
func Kubectl(side Side, scope Scope) string {
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
