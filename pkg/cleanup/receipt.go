package cleanup

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Outcome is the result of the deletion of one item.
type Outcome string

// The outcomes.
const (
	Deleted     Outcome = "deleted"
	AlreadyGone Outcome = "already-gone"
	Kept        Outcome = "kept" // another environment uses it, and the cleanup of that one deletes it
	CouldNot    Outcome = "could-not"
)

// Result is an item with its outcome.
type Result struct {
	Item
	Outcome Outcome `json:"outcome"`
	// Reason says why it was kept or could not be deleted.
	Reason string `json:"why,omitempty"`
	// Forbidden reports whether a policy forbids the deletion to these credentials: another run would fail too.
	Forbidden bool `json:"forbidden,omitempty"`
	// Released reports whether the item was detached from the cluster: an administrator can delete it later, without
	// the files on this machine.
	Released bool `json:"released,omitempty"`
}

// String returns the result for people.
func (r Result) String() string {
	switch r.Outcome {
	case AlreadyGone:
		return fmt.Sprintf("%s %s was gone already", r.Kind, r.Name)
	case Kept:
		return fmt.Sprintf("kept %s %s: %s", r.Kind, r.Name, r.Reason)
	case CouldNot:
		return fmt.Sprintf("could not delete %s %s: %s", r.Kind, r.Name, r.Reason)
	}
	return fmt.Sprintf("deleted %s %s", r.Kind, r.Name)
}

// Receipt is the result of a run.
type Receipt struct {
	Cluster     string       `json:"cluster"`
	Deleted     []Result     `json:"deleted"`
	AlreadyGone []Result     `json:"alreadyGone"`
	Kept        []Result     `json:"kept"`
	CouldNot    []Result     `json:"couldNot"`
	Unknown     []NotChecked `json:"unknown,omitempty"`
}

// add adds a result. It replaces an earlier result of the same item.
func (r *Receipt) add(result Result) {
	same := func(other Result) bool {
		return other.Where == result.Where && other.Kind == result.Kind && other.Name == result.Name &&
			other.ID == result.ID
	}
	for _, list := range []*[]Result{&r.Deleted, &r.AlreadyGone, &r.Kept, &r.CouldNot} {
		*list = slices.DeleteFunc(*list, same)
	}
	switch result.Outcome {
	case Deleted:
		r.Deleted = append(r.Deleted, result)
	case AlreadyGone:
		r.AlreadyGone = append(r.AlreadyGone, result)
	case Kept:
		r.Kept = append(r.Kept, result)
	default:
		r.CouldNot = append(r.CouldNot, result)
	}
}

// correct updates the receipt with a new observation of the cloud. An item that is gone becomes Deleted, and each item
// that stays becomes CouldNot. still reports whether an item exists although no list has it.
func (r *Receipt) correct(found provider.Found, still func(Item) bool) {
	r.Unknown = notChecked(found.Unknown)
	for _, result := range slices.Clone(r.CouldNot) {
		if !result.Where.here() && found.Gone(string(result.Kind), result.ID) && !still(result.Item) {
			r.add(Result{Item: result.Item, Outcome: Deleted})
		}
	}
	for _, l := range found.Stays {
		r.add(Result{Item: itemOf(l), Outcome: CouldNot, Reason: l.Proof})
	}
}

// complete reports whether nothing is left that needs the files on this machine. Kept items do not need them, nor do
// those that were detached and left for an administrator.
func (r *Receipt) complete() bool {
	return len(r.Unknown) == 0 && !slices.ContainsFunc(r.CouldNot, func(result Result) bool { return !result.Released })
}

// forceHint returns what the next run also needs, as a sentence that follows a hint. The bootstrap cluster is gone, so
// it can no longer show that no pivot was begun.
func (r *Receipt) forceHint() string {
	if !slices.ContainsFunc(r.Deleted, func(result Result) bool { return result.Kind == BootstrapNode }) {
		return ""
	}
	return " It may need --force " + r.Cluster + " then, as the bootstrap cluster cannot be checked any more."
}

// err returns nil if everything is gone or kept. forceHint says what the next run also needs.
func (r *Receipt) err(forceHint string) error {
	var left, files, elsewhere []error
	for _, result := range r.CouldNot {
		err := fmt.Errorf("deleting %s %s: %s", result.Kind, result.Name, result.Reason)
		switch {
		case result.Kind == File:
			files = append(files, err)
		case result.Forbidden:
			elsewhere = append(elsewhere,
				fault.Wrap(err, fault.CleanupFailed,
					fmt.Sprintf("Ask an administrator of the cloud to delete %s %s (ID %s).", result.Kind, result.Name,
						result.ID)))
		default:
			left = append(left, err)
		}
	}
	for _, u := range r.Unknown {
		err := fmt.Errorf("%s: %s", u.Kind, u.Reason)
		if u.hint != "" {
			elsewhere = append(elsewhere, fault.Wrap(err, fault.CleanupFailed, u.hint))
		} else {
			left = append(left, err)
		}
	}
	// Otherwise the files stay because of resources elsewhere, and another run changes nothing.
	if len(left) > 0 || len(elsewhere) == 0 {
		left, files = append(left, files...), nil
	}
	return errors.Join(
		fault.Retryable(errors.Join(left...), fault.CleanupFailed, "Run the same command again: it deletes what is "+
			"left. What another owner uses can go when that owner no longer uses it."+forceHint),
		errors.Join(elsewhere...), errors.Join(files...))
}
