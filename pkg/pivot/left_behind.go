package pivot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// LeftBehind is an object that a move leaves in its place.
type LeftBehind struct {
	Object   capi.Object
	NeededBy []capi.Object // moving objects that name it in their spec
	Reason   string
	Remedy   string
	// Rule refuses the move because of this object; "" if the move may leave it.
	Rule   Rule
	Passes bool // whether time alone may remove the reason
}

// leftBehindSet collects the objects that are left behind, each once: with the first reason and rule that are found,
// and with all objects that need it by that rule.
type leftBehindSet struct {
	all   []LeftBehind
	index map[capi.Key]int
}

func (s *leftBehindSet) add(leftBehind LeftBehind) {
	i, known := s.index[leftBehind.Object.Key()]
	if !known {
		s.index[leftBehind.Object.Key()] = len(s.all)
		s.all = append(s.all, leftBehind)
		return
	}
	if s.all[i].Rule == leftBehind.Rule {
		s.all[i].NeededBy = append(s.all[i].NeededBy, leftBehind.NeededBy...)
	}
}

// findLeftBehind finds all objects that a move would leave behind: those of the namespace, and those that the
// namespace's objects name elsewhere.
func (v *view) findLeftBehind(ctx context.Context) error {
	found := &leftBehindSet{index: map[capi.Key]int{}}
	for _, orphan := range v.source.Orphans() {
		found.add(v.orphaned(orphan))
	}
	for _, crd := range v.sourceUnlabelled {
		for _, o := range crd.objects {
			found.add(LeftBehind{Object: o, Rule: RuleLabels, Remedy: v.labelCRD(v.sourceSide, crd.Name),
				Reason: "its CRD has no label " + capi.MoveLabel})
		}
	}
	v.findKept(found)
	if err := v.findNamed(ctx, found); err != nil {
		return err
	}
	for _, o := range v.source.Unowned() {
		found.add(LeftBehind{Object: o, Rule: RuleObjects, Passes: true, Reason: Unowned,
			Remedy: "Check that the controllers of Cluster API run: they make the Cluster its owner. " +
				describe(v, o)})
	}
	for _, o := range v.source.Unreferenced(v.scope.Namespace) {
		found.add(LeftBehind{Object: o, Reason: "nothing that moves owns or names it"})
	}
	v.stays = found.all
	slices.SortStableFunc(v.stays, func(a, b LeftBehind) int {
		return strings.Compare(a.Object.String(),
			b.Object.String())
	})
	return nil
}

// Unowned is why a move leaves behind, and a backup leaves out, what capi.Graph.Unowned returns.
const Unowned = "its Cluster does not own it yet, directly or through others"

// orphaned returns why an object that belongs to moving objects is left behind.
func (v *view) orphaned(s capi.Orphan) LeftBehind {
	leftBehind := LeftBehind{Object: s.Object, Rule: RuleObjects}
	switch {
	case len(s.Cycle) > 0:
		var names []string
		for _, o := range s.Cycle {
			names = append(names, o.String())
		}
		leftBehind.Reason = "owners in a circle are never moved: " + strings.Join(names, ", ")
		leftBehind.Remedy = "Remove the owner references of one of them that close the circle: " +
			v.onObject("edit", s.Cycle[0])
	case s.Missing:
		leftBehind.Reason = fmt.Sprintf("an owner of %s is not moved: %s, which does not exist, is in another "+
			"namespace, or is of a kind without the label %s", ownedName(s), s.Owner, capi.MoveLabel)
		leftBehind.Remedy = "Label the CRD of that owner, or remove the owner reference: " + v.onObject("edit", s.Owned)
	default:
		leftBehind.Reason = fmt.Sprintf("an owner of %s is not moved: %s, which nothing that is moved owns",
			ownedName(s), s.Owner)
		leftBehind.Remedy = "Have that owner moved too, or remove the owner reference: " + v.onObject("edit", s.Owned)
	}
	return leftBehind
}

func ownedName(s capi.Orphan) string {
	if s.Owned.UID == s.Object.UID {
		return "it"
	}
	return s.Owned.String()
}

// findKept adds the ClusterClasses that are copied and not deleted, because a Cluster of another namespace uses them,
// with the objects below them. It also adds the classes of other namespaces that moving Clusters use.
func (v *view) findKept(found *leftBehindSet) {
	for _, used := range v.usedElsewhere() {
		for _, o := range v.source.Below(used.class) {
			found.add(LeftBehind{Object: o, Rule: RuleElsewhere, Remedy: copyClass(used.users),
				Reason: fmt.Sprintf("%s uses %s: it would be copied, and stay", used.users[0], used.class)})
		}
	}
	for _, c := range v.clusters {
		if c.ClassNamespace != "" && c.ClassNamespace != v.scope.Namespace {
			found.add(LeftBehind{Object: capi.Object{APIVersion: c.APIVersion, Kind: "ClusterClass",
				Namespace: c.ClassNamespace, Name: c.ClassName},
				NeededBy: []capi.Object{c.Object}, Rule: RuleCluster, Remedy: "Make a copy of it in namespace " +
					c.Namespace + ", and rebase the Cluster to that.",
				Reason: "it is in another namespace: it would be copied, and stay"})
		}
	}
}

// findNamed adds the objects that moving objects name and that do not move.
func (v *view) findNamed(ctx context.Context, found *leftBehindSet) error {
	var outside []capi.Reference
	copies := map[capi.Key]capi.Copy{}
	for _, ref := range v.source.LeftBehind() {
		if ref.To.Shared || ref.To.Namespace != v.scope.Namespace {
			outside = append(outside, ref)
			continue
		}
		key := ref.To.Key()
		if _, read := copies[key]; !read {
			var err error
			if copies[key], err = capi.CopyOf(ctx, key, v.sourceSide.Client, v.targetSide.Client); err != nil {
				return err
			}
		}
		found.add(v.unlabelled(ref, copies[key]))
	}
	unread, err := v.findUnread(ctx)
	if err != nil {
		return err
	}
	return v.addMissing(ctx, found, slices.Concat(outside, unread))
}

// unlabelled describes an object of the namespace that a moving one names and that has no label. No rule refuses it if
// the target has the same, such as the Secrets that the chart creates on both sides.
func (v *view) unlabelled(ref capi.Reference, copied capi.Copy) LeftBehind {
	leftBehind := LeftBehind{Object: ref.To, NeededBy: []capi.Object{ref.From}, Rule: RuleObjects,
		Remedy: v.label(ref.To),
		Reason: "nothing that is moved owns it, and it has no label " + clusterctlv1.ClusterctlMoveLabel}
	switch copied {
	case capi.SameCopy:
		return LeftBehind{Object: ref.To, Reason: "the target has the same"}
	case capi.OtherCopy:
		leftBehind.Reason = "the target has one with other data"
		leftBehind.Remedy = "Have Flux apply the same values on both sides, or make both the same: " +
			v.onObject("edit", ref.To)
	}
	return leftBehind
}

// label returns the command that labels an object so that it moves.
func (v *view) label(o capi.Object) string {
	return v.onObject("label", o) + " " + clusterctlv1.ClusterctlMoveLabel + "="
}

// findUnread returns the references of moving objects to kinds that no move reads, if the objects exist at the source.
func (v *view) findUnread(ctx context.Context) ([]capi.Reference, error) {
	refs := v.source.ExternalRefs()
	var keys []capi.Key
	for _, ref := range refs {
		keys = append(keys, ref.To)
	}
	atSource, err := capi.Find(ctx, v.sourceSide.Client, keys)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	var found []capi.Reference
	for _, ref := range refs {
		if o, exists := atSource[ref.To]; exists {
			found = append(found, capi.Reference{From: ref.From, To: o})
		}
	}
	return found, nil
}

// addMissing adds named objects that no move takes. RuleObjects refuses only those that the target lacks: objects of
// the whole cluster or of another namespace are often installed on both sides.
func (v *view) addMissing(ctx context.Context, found *leftBehindSet, refs []capi.Reference) error {
	var keys []capi.Key
	for _, ref := range refs {
		keys = append(keys, ref.To.Key())
	}
	onTarget, err := capi.Find(ctx, v.targetSide.Client, keys)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	for _, ref := range refs {
		o := ref.To
		if _, exists := onTarget[o.Key()]; exists {
			found.add(LeftBehind{Object: o, Reason: "the target has its own"})
			continue
		}
		leftBehind := LeftBehind{Object: o, NeededBy: []capi.Object{ref.From}, Rule: RuleObjects}
		switch {
		case o.Namespace != "" && o.Namespace != v.scope.Namespace:
			leftBehind.Reason = "it is in another namespace, and the target does not have it"
			leftBehind.Remedy = "Create it on the target, in the same namespace."
		case o.Shared:
			leftBehind.Reason = "it belongs to the whole cluster, has no label " + clusterctlv1.ClusterctlMoveLabel +
				", and the target does not have it"
			leftBehind.Remedy = v.label(o)
		default:
			leftBehind.Reason = "no move looks at its kind, whose CRD has no label " + capi.MoveLabel
			leftBehind.Remedy = v.labelCRD(v.sourceSide, v.resource(o)) + "\n" + v.label(o)
		}
		found.add(leftBehind)
	}
	return nil
}
