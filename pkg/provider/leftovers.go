package provider

import (
	"context"
	"errors"
	"slices"
	"time"
)

// ErrGone reports that a leftover does not exist, or no longer.
var ErrGone = errors.New("it is gone")

// ErrForbidden reports that the system's policy forbids the deletion with these credentials: only an administrator can
// do it.
var ErrForbidden = errors.New("policy forbids it")

// Releaser is a Leftovers that can detach a leftover from what it uses, if it cannot delete it.
type Releaser interface {
	// Release keeps the leftover, but what it used can then be deleted. released is false for a kind that cannot be
	// detached.
	Release(context.Context, Leftover) (released bool, err error)
}

// Leftovers finds what one cluster has left in the system of its machines, by proof, and deletes it.
type Leftovers interface {
	// Look finds all leftovers, and changes nothing.
	Look(context.Context) (Found, error)
	// Delete requests the deletion of something that Look returned. gone reports whether the answer confirms the
	// deletion. Otherwise it takes time, see Going. The error is ErrGone if it did not exist. For other errors
	// fault.CanRetry reports whether a retry may succeed later.
	Delete(context.Context, Leftover) (gone bool, err error)
	// Going reports whether an accepted deletion is still in progress. False means it failed and may be requested
	// again. The error is ErrGone once it is done.
	Going(context.Context, Leftover) (bool, error)
	// Survey counts what carries the tag of any cluster. A failed request is an error.
	Survey(context.Context) ([]Remains, error)
}

// Leftover is a resource that a cluster has left, or that looks so. Only Kind, ID and PartOf are needed to delete it.
type Leftover struct {
	// Where is the name of its system in plans and receipts.
	Where string
	// Kind is its kind, as its system calls it.
	Kind string
	// ID identifies it in its system, among all kinds.
	ID   string
	Name string
	// Proof says why it belongs to the cluster, or why it stays or is left alone.
	Proof string
	// Parent is the ID of what it is attached to, for people. Empty means nothing.
	Parent string
	// Rank orders it among leftovers of other kinds, for people.
	Rank int
	// PartOf is the ID of the resource that it belongs to, and with which it may be deleted. Empty means none.
	PartOf string
	// Uses are the IDs of what cannot be deleted before it. Together with ProvenBy they contain no cycle: the deletion
	// follows them.
	Uses []string
	// ProvenBy are the IDs of what must not be deleted before it: without them its owner could not be proven any more.
	ProvenBy []string
	// Created is zero if it is not known.
	Created time.Time
	// Machine reports whether it is a machine of the cluster. Lists may leave out one that still exists.
	Machine bool
}

// Unlisted is a kind that could not be listed, and why.
type Unlisted struct {
	Kind string
	// Covers are the kinds that come with its list.
	Covers []string
	Why    error
	// Machines reports whether there may be unknown machines.
	Machines bool
}

// Found is the result of one Look.
type Found struct {
	// Delete is what belongs to the cluster and can be deleted, Stays what belongs to it and cannot. LeftAlone seems to
	// belong to the cluster, or is connected to what does, without proof.
	Delete, Stays, LeftAlone []Leftover
	Unknown                  []Unlisted
	// Listed has the IDs of all listed resources, whoever owns them.
	Listed map[string]bool
}

// Gone reports whether no list has a leftover any more. It is false if its kind could not be listed.
func (f Found) Gone(kind, id string) bool {
	unlisted := slices.ContainsFunc(f.Unknown, func(u Unlisted) bool {
		return u.Kind == kind ||
			slices.Contains(u.Covers, kind)
	})
	return !unlisted && !f.Listed[id]
}

// Remains counts the resources with the tag of one cluster.
type Remains struct {
	// Cluster is the cluster of the tag, Where the name of the system in plans and receipts.
	Cluster, Where string
	Things         int
}

// Account reports whose credentials are used.
type Account interface {
	// Admin reports whether they have all permissions in the whole system.
	Admin() bool
}
