package cleanup

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Print writes the plan for people. What would be deleted is a tree, each item with its proof. What stays, is left
// alone or is unknown follows, each with the reason.
func (p Plan) Print(out io.Writer) error {
	var b strings.Builder
	if p.Empty() {
		fmt.Fprintln(&b, "nothing found")
	}
	for _, where := range p.systems() {
		items := slices.DeleteFunc(slices.Clone(p.Delete), func(i Item) bool { return i.Where != where })
		if len(items) > 0 {
			oneline.Fprintf(&b, "delete, in %s, of %s:\n", where, p.Cluster)
			writeBranch(&b, items, "", "  ")
		}
	}
	writeFlat(&b, "stays, though it is of "+p.Cluster+":", p.Stays, "because ")
	writeFlat(&b, "left alone:", p.LeftAlone, "")
	for _, u := range p.Unknown {
		if u.Kind == AllOfCloud {
			oneline.Fprintf(&b, "not known: what it has in %s\n", u.Reason)
			continue
		}
		oneline.Fprintf(&b, "not known: which %ss there are: %s\n", u.Kind, u.Reason)
	}
	if p.Refused != "" {
		oneline.Fprintf(&b, "not deleted without --force %s: %s\n", p.Cluster, p.Refused)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// systems returns the systems in which something can be deleted, in the order of display.
func (p Plan) systems() []Where {
	var clouds []Where
	for _, i := range p.Delete {
		if !i.Where.here() && !slices.Contains(clouds, i.Where) {
			clouds = append(clouds, i.Where)
		}
	}
	return slices.Concat([]Where{InDocker}, clouds, []Where{InFiles})
}

// writeBranch writes the children of parent, each with its own children.
func writeBranch(b *strings.Builder, items []Item, parent, indent string) {
	for _, i := range sorted(items) {
		isRoot := !slices.ContainsFunc(items, func(other Item) bool { return i.Parent != "" && other.ID == i.Parent })
		if parent == "" && !isRoot || parent != "" && i.Parent != parent {
			continue
		}
		oneline.Fprintf(b, "%s%-*s %s\n", indent, 66-len(indent), string(i.Kind)+" "+i.called(), i.Proof)
		if i.ID != "" {
			writeBranch(b, items, i.ID, indent+"  ")
		}
	}
}

func writeFlat(b *strings.Builder, title string, items []Item, opening string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintln(b, title)
	for _, i := range sorted(items) {
		oneline.Fprintf(b, "  %-64s %s%s\n", string(i.Kind)+" "+i.called(), opening, i.Proof)
	}
}

// called returns the name, or the ID if there is no name.
func (i Item) called() string {
	if i.Name == "" {
		return i.ID
	}
	return i.Name
}

// sorted sorts items of a cloud by their rank, for people. Other items keep their order.
func sorted(items []Item) []Item {
	list := slices.Clone(items)
	slices.SortStableFunc(list, func(a, b Item) int {
		if a.Where.here() || b.Where.here() {
			return 0
		}
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return strings.Compare(a.Name+a.ID, b.Name+b.ID)
	})
	return list
}

// Print writes the receipt for people.
func (r Receipt) Print(out io.Writer) error {
	var b strings.Builder
	oneline.Fprintf(&b, "%s: %d deleted, %d already gone, %d kept, %d could not be deleted\n", r.Cluster,
		len(r.Deleted), len(r.AlreadyGone), len(r.Kept), len(r.CouldNot))
	for _, result := range slices.Concat(r.Kept, r.CouldNot) {
		reason := result.Reason
		if result.Outcome == Kept {
			reason = "kept: " + reason
		}
		oneline.Fprintf(&b, "  %-64s %s\n", string(result.Kind)+" "+result.called(), reason)
	}
	for _, u := range r.Unknown {
		oneline.Fprintf(&b, "  not known: %s: %s\n", u.Kind, u.Reason)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
