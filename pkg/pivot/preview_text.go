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
		printStays(b, p.Stays)
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
		oneline.Fprintf(b, "An object is paused, but not by the move. If it need not be paused, resume it "+
			"yourself.\n")
		return
	}
	if steps == nil {
		oneline.Fprintf(b, "The two clusters differ in a way that no interrupted move leaves: compare them yourself.\n")
		return
	}
	oneline.Fprintf(b, "\nSteps that finish it:\n")
	for i, step := range steps {
		oneline.Fprintf(b, "  %d. %s\n", i+1, inWords(step))
		for _, line := range lines(step.Command(p.Source, p.Target, p.Scope)) {
			oneline.Fprintf(b, "       %s\n", line)
		}
	}
}

func inWords(s Step) string {
	var names []string
	for _, o := range s.Objects {
		names = append(names, o.String())
	}
	objects := strings.Join(names, ", ")
	switch s.Action {
	case ActionResume:
		return fmt.Sprintf("resume at the %s: %s", s.Where, objects)
	case ActionMove:
		return "move again: objects of the source overwrite those on the target"
	case ActionCompare:
		return "compare: the target has all objects unchanged"
	case ActionDelete:
		return fmt.Sprintf("delete at the %s, because the target has them: %s", s.Where, objects)
	}
	return string(s.Action)
}

// printMoves writes the objects that move as a tree. The number before each object is its group: owners are created
// before their dependents.
func printMoves(b *strings.Builder, cluster string, p Preview) {
	all := slices.Concat(p.Groups...)
	oneline.Fprintf(b, "%s: %d objects would move, in %d groups, one after the other (the number of the group is in "+
		"front):\n", cluster, len(all), len(p.Groups))
	group, below := map[capi.Key]int{}, map[capi.Key][]capi.Object{}
	for i, objects := range p.Groups {
		for _, o := range objects {
			group[o.Key()] = i + 1
		}
	}
	var roots []capi.Object
	for _, o := range all {
		if parent, owned := p.Parent(o); owned && group[parent.Key()] > 0 {
			below[parent.Key()] = append(below[parent.Key()], o)
		} else {
			roots = append(roots, o)
		}
	}
	byName := func(a, b capi.Object) int { return cmp.Compare(a.String(), b.String()) }
	var show func(objects []capi.Object, indent string, top bool)
	show = func(objects []capi.Object, indent string, top bool) {
		slices.SortFunc(objects, byName)
		for i, o := range objects {
			branch, deeper := "├─ ", "│  "
			if i == len(objects)-1 {
				branch, deeper = "└─ ", "   "
			}
			if top {
				branch, deeper = "", ""
			}
			oneline.Fprintf(b, "%4d  %s%s%s\n", group[o.Key()], indent, branch, called(o, p.Scope))
			show(below[o.Key()], indent+deeper, false)
		}
	}
	show(roots, "", true)
}

// called returns the name of an object, without the namespace of the cluster.
func called(o capi.Object, scope clusters.Scope) string {
	if o.Namespace == scope.Namespace {
		return o.Kind + " " + o.Name
	}
	return o.String()
}

// printStays writes the objects that would be left behind: needed ones with reason and remedy, others one line per
// kind.
func printStays(b *strings.Builder, stays []LeftBehind) {
	idle, kinds := map[string][]string{}, []string{}
	var needed []LeftBehind
	for _, stay := range stays {
		if stay.Rule != "" {
			needed = append(needed, stay)
			continue
		}
		if idle[stay.Object.Kind] == nil {
			kinds = append(kinds, stay.Object.Kind)
		}
		idle[stay.Object.Kind] = append(idle[stay.Object.Kind], stay.Object.Name)
	}
	if len(needed) > 0 {
		oneline.Fprintf(b, "\nWould be left behind, but should move:\n")
	}
	for _, stay := range needed {
		oneline.Fprintf(b, "  %s\n", stay.Object)
		var by []string
		for _, o := range stay.NeededBy {
			by = append(by, o.String())
		}
		if len(by) > 0 {
			oneline.Fprintf(b, "    needed by: %s\n", strings.Join(by, ", "))
		}
		oneline.Fprintf(b, "    because:   %s\n", stay.Reason)
		printRemedy(b, "    remedy:    ", stay.Remedy)
	}
	if len(kinds) > 0 {
		oneline.Fprintf(b, "\nWould be left behind, and is not needed:\n")
	}
	for _, kind := range kinds {
		oneline.Fprintf(b, "  %s %s\n", kind, strings.Join(idle[kind], ", "))
	}
}

// printRefusals writes why a move must not start. Objects left behind are already listed above.
func printRefusals(b *strings.Builder, p Preview) {
	if len(p.Refusals) > 0 {
		oneline.Fprintf(b, "\nA move must not start:\n")
	}
	shown := map[string]bool{}
	for _, stay := range p.Stays {
		if stay.Rule == RuleObjects {
			shown[stay.Object.String()] = true
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

// printRemedy writes a remedy and aligns its lines.
func printRemedy(b *strings.Builder, before, remedy string) {
	for _, line := range lines(remedy) {
		oneline.Fprintf(b, "%s%s\n", before, line)
		before = strings.Repeat(" ", len(before))
	}
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}
