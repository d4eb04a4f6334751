// Package cleanup finds what an environment left behind, by proof of ownership, shows it, and deletes it.
package cleanup

import (
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Kind is the kind of a thing that can be left behind. Those of a cloud are called as it calls them.
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

// AllOfCloud is all that a cluster has in a cloud, where it cannot be listed.
const AllOfCloud Kind = "cloud"

// dockerOrder is the order of deletion: what makes others comes before what it makes.
func dockerOrder() []Kind {
	return []Kind{BootstrapNode, Machine, Registry, Volume, Image, Network, File}
}

// Where says which system has a thing. A cloud says itself how it is called.
type Where string

// The systems of this machine.
const (
	InDocker Where = "docker"
	InFiles  Where = "files"
)

// here is whether it is a system of this machine.
func (w Where) here() bool { return w == InDocker || w == InFiles }

// Item is one thing with the proof that it belongs to the environment, or the reason why it is left alone.
type Item struct {
	Where Where  `json:"where"`
	Kind  Kind   `json:"kind"`
	Name  string `json:"name"`
	ID    string `json:"id,omitempty"`
	Proof string `json:"proof"`
	// Parent is the ID of the item that this one hangs on.
	Parent  string    `json:"parent,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Machine is whether it is a machine in a cloud.
	Machine bool `json:"-"`
	rank    int  // its place among others of a cloud, for people
}

// NotChecked is a kind of things that could not be listed: none of them counts as gone, and nothing that they might
// need is deleted.
type NotChecked struct {
	Kind Kind   `json:"kind"`
	Why  string `json:"why"`
	// Machines is whether there may be machines that nobody knows of.
	Machines bool   `json:"-"`
	hint     string // what the user can do; empty: run the same command again
}

// Plan is what would be deleted, and what not.
type Plan struct {
	Cluster string `json:"cluster"`
	// Delete is what belongs to the cluster and can go; what is in docker and in files is in the order of deletion.
	Delete []Item `json:"delete"`
	// Stays is what belongs to the cluster and cannot go; Proof says why.
	Stays []Item `json:"stays,omitempty"`
	// LeftAlone is what looks as if it belonged to the cluster, or uses what does; Proof says why it does not.
	LeftAlone []Item       `json:"leftAlone,omitempty"`
	Unknown   []NotChecked `json:"unknown,omitempty"`
	// Refused is why nothing of it is deleted unless the user insists; see Permission.
	Refused string `json:"refused,omitempty"`
}

// Empty is whether nothing of the cluster was found, for sure.
func (p Plan) Empty() bool { return len(p.Delete)+len(p.Stays)+len(p.Unknown) == 0 }

// Youngest returns the item that was made last, of those that say when; false when none does.
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

// TooYoung returns why everything is kept when only what was made before an instant may go; empty: it may go. What is
// not known may be younger than all that is.
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

// Target says whose things are looked for.
type Target struct {
	Namespace string   // of the Cluster API objects
	Cluster   string   // name of the management cluster, which is the value of all labels and markers in docker
	Files     []string // local files and folders of the environment
	Elsewhere Elsewhere
	// Recover says, as a sentence, how to read a lost kubeconfig in the cluster's machines. Empty: they cannot be read.
	Recover string
}

// Elsewhere is where a cluster may have things that cannot be listed or deleted from here. The zero value: nowhere.
type Elsewhere struct {
	Place string // as people call it: "AWS"
	Why   string // why not
	Hint  string // what the user can do
	// Certain is whether its machines are there, if it has any; else nobody knows whether it has anything there.
	Certain bool
}

// add takes what was found in a cloud.
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
		all = append(all, NotChecked{Kind: Kind(u.Kind), Why: u.Why.Error(), Machines: u.Machines})
	}
	return all
}

func itemOf(l provider.Leftover) Item {
	return Item{Where: Where(l.Where), Kind: Kind(l.Kind), Name: l.Name, ID: l.ID, Proof: l.Proof, Parent: l.Parent,
		Created: l.Created, Machine: l.Machine, rank: l.Rank}
}
