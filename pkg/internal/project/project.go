// Package project is a project of an OpenStack cloud in memory, for tests of what a cluster leaves in one.
package project

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// ID is the one of the project.
const ID = "project"

// Resource makes a resource of the project whose ID is kind/name.
func Resource(kind openstack.Kind, name string, with ...func(*openstack.Resource)) openstack.Resource {
	r := openstack.Resource{Ref: Ref(kind, name), Name: name, Project: ID}
	for _, w := range with {
		w(&r)
	}
	return r
}

// Ref names what Resource makes.
func Ref(kind openstack.Kind, name string) openstack.Ref {
	return openstack.Ref{Kind: kind, ID: string(kind) + "/" + name}
}

// Tagged marks as of a cluster, <namespace>-<name>, as Cluster API's provider does.
func Tagged(cluster string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.Tags = append(r.Tags, owned.Tag(cluster)) }
}

// Tag gives any tag.
func Tag(text string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.Tags = append(r.Tags, text) }
}

// Described gives a description.
func Described(text string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.Description = text }
}

// Property marks as of a cluster, as the CSI driver does.
func Property(cluster string) func(*openstack.Resource) {
	return func(r *openstack.Resource) {
		r.Properties = map[string]string{"cinder.csi.openstack.org/cluster": cluster}
	}
}

// Uses has it use what is of that kind and these names.
func Uses(kind openstack.Kind, names ...string) func(*openstack.Resource) {
	return func(r *openstack.Resource) {
		for _, name := range names {
			r.Uses = append(r.Uses, Ref(kind, name))
		}
	}
}

// PartOf makes it part of another one.
func PartOf(kind openstack.Kind, name string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.PartOf = Ref(kind, name) }
}

// OfProject gives it to another project.
func OfProject(name string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.Project = name }
}

// Cloud has the project. It refuses to delete what is in use, as clouds do.
type Cloud struct {
	sync.Mutex // of the fields below
	Resources  []openstack.Resource
	Unknown    map[openstack.Kind]error
	Hidden     map[openstack.Ref]bool // from the inventory only
	LookError  error
	// Answers are given to the deletions of a resource, one after the other, before the cloud obeys; the
	// last one for ever when it is in Forever.
	Answers map[openstack.Ref][]error
	Forever map[openstack.Ref]error
	// Bound are floating IPs that cannot be disassociated, and why.
	Bound map[openstack.Ref]error
	// Takes is how many looks at its status it takes until a resource is gone, and what the status is meanwhile.
	Takes    map[openstack.Ref][]string
	Going    map[openstack.Ref]bool
	Deleted  []openstack.Ref // in the order in which they went
	Asked    int
	AtOnce   int // for OnDelete to count
	Most     int
	OnDelete func(openstack.Resource)
}

// Inventory lists the resources that are not hidden.
func (f *Cloud) Inventory(context.Context) (openstack.Inventory, error) {
	f.Lock()
	defer f.Unlock()
	listed := slices.DeleteFunc(slices.Clone(f.Resources), func(r openstack.Resource) bool { return f.Hidden[r.Ref] })
	return openstack.Inventory{Project: ID, Resources: listed, Unknown: f.Unknown}, f.LookError
}

// Delete deletes a resource, at once or over time, or gives the next of its Answers. It refuses what others use.
func (f *Cloud) Delete(ctx context.Context, r openstack.Resource) (bool, error) {
	if f.OnDelete != nil {
		f.OnDelete(r)
	}
	f.Lock()
	defer f.Unlock()
	f.Asked++
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err := f.Forever[r.Ref]; err != nil {
		return false, err
	}
	if left := f.Answers[r.Ref]; len(left) > 0 {
		f.Answers[r.Ref] = left[1:]
		if errors.Is(left[0], openstack.ErrNotFound) {
			f.Drop(r.Ref)
		}
		return false, left[0]
	}
	if !f.has(r.Ref) {
		return false, openstack.ErrNotFound
	}
	if r.Kind == openstack.KindInterface && r.PartOf.ID == "" {
		return false, errors.New("an interface is deleted at its router")
	}
	for _, other := range f.Resources {
		if slices.Contains(other.Uses, r.Ref) && other.Kind != r.Kind && (other.Kind != openstack.KindFloatingIP ||
			r.Kind == openstack.KindInterface) {
			return false, &openstack.Refusal{Code: 409, Message: "in use by " + other.Name, Temporary: true}
		}
	}
	if left := f.Takes[r.Ref]; len(left) > 0 {
		if left[0] == "error" {
			f.Takes[r.Ref] = left[1:]
		}
		f.Going[r.Ref] = true
		return false, nil
	}
	f.Drop(r.Ref)
	return true, nil
}

// Disassociate has a floating IP use nothing any more, unless Bound refuses it.
func (f *Cloud) Disassociate(_ context.Context, r openstack.Resource) error {
	f.Lock()
	defer f.Unlock()
	if err := f.Bound[r.Ref]; err != nil {
		return err
	}
	for i := range f.Resources {
		if f.Resources[i].Ref == r.Ref {
			f.Resources[i].Uses = nil
			return nil
		}
	}
	return openstack.ErrNotFound
}

// Status returns the next status of a resource that is being deleted, until it is gone.
func (f *Cloud) Status(_ context.Context, r openstack.Resource) (string, error) {
	f.Lock()
	defer f.Unlock()
	if !f.has(r.Ref) {
		return "", openstack.ErrNotFound
	}
	left := f.Takes[r.Ref]
	if len(left) == 0 {
		f.Drop(r.Ref)
		return "", openstack.ErrNotFound
	}
	if left[0] != "error" { // it stays so until the next request
		f.Takes[r.Ref] = left[1:]
	}
	return left[0], nil
}

func (f *Cloud) has(one openstack.Ref) bool {
	return slices.ContainsFunc(f.Resources, func(r openstack.Resource) bool { return r.Ref == one })
}

// Drop has it gone.
func (f *Cloud) Drop(one openstack.Ref) {
	f.Resources = slices.DeleteFunc(f.Resources, func(r openstack.Resource) bool { return r.Ref == one })
	f.Deleted = append(f.Deleted, one)
}

// Cluster is what the provider makes for the cluster ns-<name>, with one machine; all is tagged unless bare.
func Cluster(name string, bare bool) []openstack.Resource {
	r := "ns-" + name
	called := "k8s-clusterapi-cluster-" + r
	group := "k8s-cluster-" + r + "-secgroup-"
	mark := Tagged(r)
	if bare {
		mark = func(*openstack.Resource) {}
	}
	port, server := name+"-cp-x-0", name+"-cp-x"
	return []openstack.Resource{
		Resource(openstack.KindServer, server, Tagged(r), Uses(openstack.KindPort, port),
			Uses(openstack.KindVolume, server+"-root"), Uses(openstack.KindServerGroup, r+"-control-plane")),
		Resource(openstack.KindPort, port, mark, Described("Created by cluster-api-provider-openstack cluster "+name),
			PartOf(openstack.KindServer, server), Uses(openstack.KindInterface, r), Uses(openstack.KindSubnet, called),
			Uses(openstack.KindNetwork, called), Uses(openstack.KindSecurityGroup, group+"controlplane")),
		Resource(openstack.KindVolume, server+"-root", Described("Root volume for "+server),
			PartOf(openstack.KindServer, server)),
		Resource(openstack.KindFloatingIP, "203.0.113."+name,
			Described("Created by cluster-api-provider-openstack cluster "+r), mark, Uses(openstack.KindPort, port),
			Uses(openstack.KindInterface, r)),
		Resource(openstack.KindRouter, called, mark),
		Resource(openstack.KindInterface, r, PartOf(openstack.KindRouter, called), Uses(openstack.KindRouter, called),
			Uses(openstack.KindSubnet, called), Uses(openstack.KindNetwork, called)),
		Resource(openstack.KindSubnet, called, mark, Uses(openstack.KindNetwork, called)),
		Resource(openstack.KindNetwork, called, mark),
		Resource(openstack.KindSecurityGroup, group+"controlplane", mark,
			Uses(openstack.KindSecurityGroup, group+"worker")),
		Resource(openstack.KindSecurityGroup, group+"worker", mark,
			Uses(openstack.KindSecurityGroup, group+"controlplane")),
		Resource(openstack.KindServerGroup, r+"-control-plane"),
	}
}

// IDs are those of resources, sorted.
func IDs(resources []openstack.Resource) []string {
	var list []string
	for _, r := range resources {
		list = append(list, r.ID)
	}
	slices.Sort(list)
	return list
}
