package pivot

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Print writes the preview for a person.
func (p Preview) Print(out io.Writer) error {
	b := &strings.Builder{}
	cluster := fmt.Sprintf("Cluster %s/%s", p.Scope.Namespace, p.Scope.Cluster)
	switch {
	case p.Finished():
		oneline.Fprintf(b, "%s: the pivot is finished: the management cluster holds its own definition. Nothing is "+
			"left to move.\n", cluster)
	case p.Interrupted():
		printRecovery(b, cluster, p)
	default:
		printMoves(b, cluster, p)
		printLeftBehind(b, p.Stays)
		printRefusals(b, p)
		if p.MayStart() {
			oneline.Fprintf(b, "\nA move may start.\n")
		}
	}
	for _, note := range p.Notes {
		oneline.Fprintf(b, "\nNote: %s.\n", note)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func printRecovery(b *strings.Builder, cluster string, p Preview) {
	oneline.Fprintf(b, "%s: an earlier move was interrupted, at the stage %q: %d objects are at the source, %d on the "+
		"target.\n",
		cluster, p.State.Stage, len(p.State.Source.Objects), len(p.State.Target.Objects))
	steps := p.Recovery()
	if steps == nil && p.State.Explained() {
		step := p.State.resumeByHand()
		oneline.Fprintf(b, "Paused at the %s, but not by the move: %s. If nobody needs it paused, resume it:\n",
			step.Where, objectNames(step.Objects))
		for _, line := range lines(step.Command(p.Source, p.Target, p.Scope)) {
			oneline.Fprintf(b, "  %s\n", line)
		}
		return
	}
	if steps == nil {
		oneline.Fprintf(b, "The two clusters differ in a way that no interrupted move leaves: compare them yourself.\n")
		return
	}
	oneline.Fprintf(b, "\nSteps that finish it:\n")
	for i, step := range steps {
		oneline.Fprintf(b, "  %d. %s\n", i+1, describeStep(step))
		for _, line := range lines(step.Command(p.Source, p.Target, p.Scope)) {
			oneline.Fprintf(b, "       %s\n", line)
		}
	}
}

func describeStep(s Step) string {
	switch s.Action {
	case ActionResume:
		return fmt.Sprintf("resume at the %s: %s", s.Where, objectNames(s.Objects))
	case ActionMove:
		return "move again: objects of the source overwrite those on the target"
	case ActionCompare:
		return "compare: the target has all objects unchanged"
	case ActionDelete:
		return fmt.Sprintf("delete at the %s, because the target has them: %s", s.Where, objectNames(s.Objects))
	}
	return string(s.Action)
}

func objectNames(objects []capi.Object) string {
	var names []string
	for _, o := range objects {
		names = append(names, o.String())
	}
	return strings.Join(names, ", ")
}

// printMoves writes the objects that move as a tree. The number before each object is its group: owners are created
// before their dependents.
func printMoves(b *strings.Builder, cluster string, p Preview) {
	tree := newMoveTree(p)
	oneline.Fprintf(b, "%s: %d objects would move, in %d groups, one after the other (the number of the group is in "+
		"front):\n", cluster, len(tree.group), len(p.Groups))
	for _, o := range tree.roots {
		tree.print(b, p.Scope, o, "", "", "")
	}
}

// moveTree holds the objects of a move below their owners, sorted by name.
type moveTree struct {
	group    map[capi.Key]int // from 1
	roots    []capi.Object
	children map[capi.Key][]capi.Object
}

func newMoveTree(p Preview) moveTree {
	tree := moveTree{group: map[capi.Key]int{}, children: map[capi.Key][]capi.Object{}}
	for i, objects := range p.Groups {
		for _, o := range objects {
			tree.group[o.Key()] = i + 1
		}
	}
	byName := func(a, b capi.Object) int { return cmp.Compare(a.String(), b.String()) }
	for _, o := range slices.SortedFunc(slices.Values(slices.Concat(p.Groups...)), byName) {
		if parent, owned := p.Parent(o); owned && tree.group[parent.Key()] > 0 {
			tree.children[parent.Key()] = append(tree.children[parent.Key()], o)
		} else {
			tree.roots = append(tree.roots, o)
		}
	}
	return tree
}

// print writes an object and those below it. branch comes before the object, childIndent before its children.
func (t moveTree) print(b *strings.Builder, scope clusters.Scope, o capi.Object, indent, branch, childIndent string) {
	oneline.Fprintf(b, "%4d  %s%s%s\n", t.group[o.Key()], indent, branch, shortName(o, scope))
	children := t.children[o.Key()]
	for i, child := range children {
		if i == len(children)-1 {
			t.print(b, scope, child, indent+childIndent, "└─ ", "   ")
		} else {
			t.print(b, scope, child, indent+childIndent, "├─ ", "│  ")
		}
	}
}

// shortName returns the name of an object, without the namespace of the cluster.
func shortName(o capi.Object, scope clusters.Scope) string {
	if o.Namespace == scope.Namespace {
		return o.Kind + " " + o.Name
	}
	return o.String()
}

// printLeftBehind writes the objects that would be left behind: needed ones with reason and remedy, others one line per
// kind.
func printLeftBehind(b *strings.Builder, all []LeftBehind) {
	unreferenced, kinds := map[string][]string{}, []string{}
	var needed []LeftBehind
	for _, leftBehind := range all {
		if leftBehind.Rule != "" {
			needed = append(needed, leftBehind)
			continue
		}
		if unreferenced[leftBehind.Object.Kind] == nil {
			kinds = append(kinds, leftBehind.Object.Kind)
		}
		unreferenced[leftBehind.Object.Kind] = append(unreferenced[leftBehind.Object.Kind], leftBehind.Object.Name)
	}
	if len(needed) > 0 {
		oneline.Fprintf(b, "\nWould be left behind, but should move:\n")
	}
	for _, leftBehind := range needed {
		oneline.Fprintf(b, "  %s\n", leftBehind.Object)
		if len(leftBehind.NeededBy) > 0 {
			oneline.Fprintf(b, "    needed by: %s\n", objectNames(leftBehind.NeededBy))
		}
		oneline.Fprintf(b, "    because:   %s\n", leftBehind.Reason)
		printRemedy(b, "    remedy:    ", leftBehind.Remedy)
	}
	if len(kinds) > 0 {
		oneline.Fprintf(b, "\nWould be left behind, and is not needed:\n")
	}
	for _, kind := range kinds {
		oneline.Fprintf(b, "  %s %s\n", kind, strings.Join(unreferenced[kind], ", "))
	}
}

// printRefusals writes why a move must not start. Objects left behind are already listed above.
func printRefusals(b *strings.Builder, p Preview) {
	if len(p.Refusals) > 0 {
		oneline.Fprintf(b, "\nA move must not start:\n")
	}
	shown := map[string]bool{}
	for _, leftBehind := range p.Stays {
		if leftBehind.Rule == RuleObjects {
			shown[leftBehind.Object.String()] = true
		}
	}
	if len(shown) > 0 {
		oneline.Fprintf(b, "  [%s] %d objects would be left behind, but should move: see above\n", RuleObjects,
			len(shown))
	}
	for _, r := range p.Refusals {
		if r.Rule == RuleObjects && shown[r.Object] {
			continue
		}
		oneline.Fprintf(b, "  [%s] %s\n", r.Rule, r.Error())
		printRemedy(b, "    remedy: ", r.Remedy)
	}
}

// printRemedy writes a remedy after label, and aligns its lines.
func printRemedy(b *strings.Builder, label, remedy string) {
	for _, line := range lines(remedy) {
		oneline.Fprintf(b, "%s%s\n", label, line)
		label = strings.Repeat(" ", len(label))
	}
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}
