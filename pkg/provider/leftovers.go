package provider

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrGone says of a leftover that it is not there, or not any more.
var ErrGone = errors.New("it is gone")

// ErrForbidden says that the system's policy forbids the deletion to these credentials: only an administrator can do
// it.
var ErrForbidden = errors.New("policy forbids it")

// Releaser is a Leftovers that can have a leftover let go of what it uses, where it cannot be deleted itself.
type Releaser interface {
	// Release leaves the leftover where it is. What it used can then be deleted. released is false for a kind that
	// cannot let go.
	Release(context.Context, Leftover) (released bool, err error)
}

// Leftovers is what one cluster has where its machines are: found by proof, and deleted.
type Leftovers interface {
	// Look finds all of it, and changes nothing.
	Look(context.Context) (Found, error)
	// Delete asks once for the deletion of what Look returned. gone is whether it is gone with the answer; else that
	// takes its time: see Going. The error is ErrGone when it was not there; fault.CanRetry tells of others whether the
	// same request may succeed in a while.
	Delete(context.Context, Leftover) (gone bool, err error)
	// Going reports whether a deletion that was accepted goes on. False means it did not work, and may be asked for
	// again. The error is ErrGone when it is done.
	Going(context.Context, Leftover) (bool, error)
	// Survey counts what carries the tag of any cluster. A question that fails is an error.
	Survey(context.Context) ([]Remains, error)
}

// Leftover is one thing that a cluster has left, or that looks so. It need have no more than Kind, ID and PartOf to be
// deleted.
type Leftover struct {
	// Where is what plans and receipts call the system that has it.
	Where string
	// Kind is what it is, as its system calls it.
	Kind string
	// ID names it in its system, among all kinds.
	ID   string
	Name string
	// Proof says why it is the cluster's, or why it stays or is left alone.
	Proof string
	// Parent is the ID of what it hangs on, for people. Empty means nothing.
	Parent string
	// Rank is its place among others of another kind, for people.
	Rank int
	// PartOf is the ID of what takes it along when that goes. Empty means nothing.
	PartOf string
	// Uses are the IDs of what cannot go before it. With ProvenBy they have no circle: who deletes waits along them.
	Uses []string
	// ProvenBy are the IDs of what must not go before it, as it could not be proven to be the cluster's any more.
	ProvenBy []string
	// Created is zero when nobody says.
	Created time.Time
	// Machine reports whether it is a machine of the cluster. Lists may leave out one that is still there.
	Machine bool
}

// Unlisted is a kind that could not be listed, and why.
type Unlisted struct {
	Kind string
	// Covers are the kinds that come with its list.
	Covers []string
	Why    error
	// Machines reports whether there may be machines that nobody knows of.
	Machines bool
}

// Found is what one look has found.
type Found struct {
	// Delete is what is the cluster's and can go, Stays what is the cluster's and cannot. LeftAlone looks as if it were
	// the cluster's, or uses what is.
	Delete, Stays, LeftAlone []Leftover
	Unknown                  []Unlisted
	// Listed has the IDs of all that was listed, whoever it belongs to.
	Listed map[string]bool
}

// Gone reports whether no list has a leftover any more. Of a kind that could not be listed nobody knows.
func (f Found) Gone(kind, id string) bool {
	unlisted := slices.ContainsFunc(f.Unknown, func(u Unlisted) bool {
		return u.Kind == kind ||
			slices.Contains(u.Covers, kind)
	})
	return !unlisted && !f.Listed[id]
}

// Remains says how many things carry the tag of a cluster.
type Remains struct {
	// Cluster is the one of the tag, Where what plans and receipts call the system.
	Cluster, Where string
	Things         int
}

// Cleaner is a provider with a system of its own that a cluster leaves things in, and that they can be deleted in. What
// a provider leaves in the Docker engine is found by whoever has made it.
type Cleaner interface {
	Leftovers(context.Context) (Leftovers, error)
}

// CleanupUnsupported is a provider with a system of its own that nobody here can look into.
type CleanupUnsupported interface {
	// Find is the command with which a person sees what is left of the cluster.
	Find(cluster string) string
}

// Account is what knows whose credentials it uses.
type Account interface {
	// Admin reports whether they may do all in the whole system.
	Admin() bool
}
