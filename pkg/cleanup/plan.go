// Package cleanup finds the resources that an environment left behind, by proof of ownership. It shows them and deletes
// them.
package cleanup

import (
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Kind is the kind of a resource that can be left behind. In a cloud it is the cloud's own term.
type Kind string

// The kinds on this machine.
const (
	BootstrapNode Kind = "bootstrap-node"
	Machine       Kind = "machine"
	Registry      Kind = "registry"
	Volume        Kind = "volume"
	Image         Kind = "image"
	Network       Kind = "network"
	File          Kind = "file"
)

// AllOfCloud stands for everything that a cluster has in a cloud, if it cannot be listed or deleted.
const AllOfCloud Kind = "cloud"

// dockerOrder is the order of deletion: a resource that creates others comes before them.
func dockerOrder() []Kind {
	return []Kind{BootstrapNode, Machine, Registry, Volume, Image, Network, File}
}

// Where is the system that has a resource. A cloud provides its own name.
type Where string

// The systems of this machine.
const (
	InDocker Where = "docker"
	InFiles  Where = "files"
)

// here reports whether w is a system of this machine.
func (w Where) here() bool { return w == InDocker || w == InFiles }

// Item is one resource, with the proof that it belongs to the environment, or the reason why it is left alone.
type Item struct {
	Where Where  `json:"where"`
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"`
	Proof string `json:"proof"`
	// Parent is the ID of the item under which this one is shown.
	Parent  string    `json:"parent,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Machine reports whether it is a machine in a cloud.
	Machine bool `json:"-"`
	// Serves is the UID of the cluster that reads from a registry, if `install` made that a management cluster.
	Serves string `json:"-"`
	rank   int    // its position among others of a cloud, for people
}

// NotChecked is a kind of resources that could not be listed. None of them counts as gone, and nothing that they may
// need is deleted.
type NotChecked struct {
	Kind   Kind   `json:"kind"`
	Reason string `json:"why"`
	// Machines reports whether there may be machines that are not known.
	Machines bool   `json:"-"`
	hint     string // what the user can do; if empty, run the same command again
}

// Plan is what would be deleted, and what would not.
type Plan struct {
	Cluster string `json:"cluster"`
	// Delete is what belongs to the cluster and can be deleted. Items in docker and in files are in the order of
	// deletion.
	Delete []Item `json:"delete"`
	// Stays is what belongs to the cluster and cannot be deleted. Proof is the reason.
	Stays []Item `json:"stays,omitempty"`
	// LeftAlone is what seems to belong to the cluster, or uses its resources. Proof is why it does not belong to it.
	LeftAlone []Item       `json:"leftAlone,omitempty"`
	Unknown   []NotChecked `json:"unknown,omitempty"`
	// Refused is why nothing of it is deleted without --force. See Permission.
	Refused string `json:"refused,omitempty"`
}

// Empty reports whether certainly nothing of the cluster was found.
func (p Plan) Empty() bool { return len(p.Delete)+len(p.Stays)+len(p.Unknown) == 0 }

// Youngest returns the item that was created last, among those with a creation time. It returns false if no item has
// one.
func (p Plan) Youngest() (Item, bool) {
	var last Item
	for _, items := range [][]Item{p.Delete, p.Stays} {
		for _, i := range items {
			if i.Created.After(last.Created) {
				last = i
			}
		}
	}
	return last, !last.Created.IsZero()
}

// TooYoung returns why everything is kept if only resources created before an instant may be deleted. Empty means that
// they may be. Resources that are not known may be younger than all known ones.
func (p Plan) TooYoung(before time.Time) string {
	youngest, _ := p.Youngest()
	switch {
	case len(p.Unknown) > 0:
		return fmt.Sprintf("what it has of kind %s is not known", p.Unknown[0].Kind)
	case youngest.Created.After(before):
		return fmt.Sprintf("%s %s was made %s ago", youngest.Kind, youngest.Name, time.Since(youngest.Created).Round(
			time.Second))
	}
	return ""
}

// Target is the environment whose resources cleanup looks for.
type Target struct {
	Namespace string // of the Cluster API objects
	// Cluster is the name of the management cluster. Docker's labels and markers of its resources have it, except for
	// the bootstrap cluster's nodes: kind labels them with owned.BootstrapCluster of it.
	Cluster   string
	Files     []string // local files and folders of the environment
	Elsewhere Elsewhere
	// Recover is a sentence that explains how to read a lost kubeconfig in the cluster's machines. It is empty if the
	// machines cannot be read.
	Recover string
}

// Elsewhere is where a cluster may have resources that cannot be listed or deleted from here. The zero value means
// nowhere.
type Elsewhere struct {
	Place  string // its common name, such as "AWS"
	Reason string // why they cannot be listed or deleted
	Hint   string // what the user can do
	// Certain reports whether its machines, if it has any, are there. Else it is not known whether it has anything
	// there.
	Certain bool
}

// add adds what was found in a cloud.
func (p *Plan) add(f provider.Found) {
	for _, l := range f.Delete {
		p.Delete = append(p.Delete, itemOf(l))
	}
	for _, l := range f.Stays {
		p.Stays = append(p.Stays, itemOf(l))
	}
	for _, l := range f.LeftAlone {
		p.LeftAlone = append(p.LeftAlone, itemOf(l))
	}
	p.Unknown = append(p.Unknown, notChecked(f.Unknown)...)
}

func notChecked(kinds []provider.Unlisted) []NotChecked {
	var all []NotChecked
	for _, u := range kinds {
		all = append(all, NotChecked{Kind: Kind(u.Kind), Reason: u.Why.Error(), Machines: u.Machines})
	}
	return all
}

func itemOf(l provider.Leftover) Item {
	return Item{Where: Where(l.Where), Kind: Kind(l.Kind), Name: l.Name, ID: l.ID, Proof: l.Proof, Parent: l.Parent,
		Created: l.Created, Machine: l.Machine, rank: l.Rank}
}
