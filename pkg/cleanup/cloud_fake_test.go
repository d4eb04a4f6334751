package cleanup_test

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const project = "project"

var target = cleanup.Target{Namespace: "ns", Cluster: "a"}

// a makes a resource whose ID is kind/name.
func a(kind openstack.Kind, name string, with ...func(*openstack.Resource)) openstack.Resource {
	r := openstack.Resource{Ref: ref(kind, name), Name: name, Project: project}
	for _, w := range with {
		w(&r)
	}
	return r
}

func ref(kind openstack.Kind, name string) openstack.Ref {
	return openstack.Ref{Kind: kind, ID: string(kind) + "/" + name}
}

func tagged(cluster string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.Tags = append(r.Tags, owned.Tag(cluster)) }
}

func tag(text string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.Tags = append(r.Tags, text) }
}

func described(text string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.Description = text }
}

func property(cluster string) func(*openstack.Resource) {
	return func(r *openstack.Resource) {
		r.Properties = map[string]string{"cinder.csi.openstack.org/cluster": cluster}
	}
}

func uses(kind openstack.Kind, names ...string) func(*openstack.Resource) {
	return func(r *openstack.Resource) {
		for _, name := range names {
			r.Uses = append(r.Uses, ref(kind, name))
		}
	}
}

func partOf(kind openstack.Kind, name string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.PartOf = ref(kind, name) }
}

func ofProject(name string) func(*openstack.Resource) {
	return func(r *openstack.Resource) { r.Project = name }
}

// fakeCloud is a cloud in memory. It refuses to delete what is in use, as clouds do.
type fakeCloud struct {
	mu        sync.Mutex
	resources []openstack.Resource
	unknown   map[openstack.Kind]error
	hidden    map[openstack.Ref]bool // from the inventory only
	lookError error
	// answers are given to the deletions of a resource, one after the other, before the cloud does as it is told; the
	// last one for ever when it is forever.
	answers map[openstack.Ref][]error
	forever map[openstack.Ref]error
	// takes is how many looks at its status it takes until a resource is gone, and what the status is meanwhile.
	takes    map[openstack.Ref][]string
	going    map[openstack.Ref]bool
	deleted  []openstack.Ref // in the order in which they went
	asked    int
	atOnce   int
	most     int
	onDelete func(openstack.Resource)
}

func (f *fakeCloud) Inventory(context.Context) (openstack.Inventory, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	listed := slices.DeleteFunc(slices.Clone(f.resources), func(r openstack.Resource) bool { return f.hidden[r.Ref] })
	return openstack.Inventory{Project: project, Resources: listed, Unknown: f.unknown}, f.lookError
}

func (f *fakeCloud) Delete(ctx context.Context, r openstack.Resource) (bool, error) {
	if f.onDelete != nil {
		f.onDelete(r)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err := f.forever[r.Ref]; err != nil {
		return false, err
	}
	if left := f.answers[r.Ref]; len(left) > 0 {
		f.answers[r.Ref] = left[1:]
		if errors.Is(left[0], openstack.ErrNotFound) {
			f.drop(r.Ref)
		}
		return false, left[0]
	}
	if !f.has(r.Ref) {
		return false, openstack.ErrNotFound
	}
	for _, other := range f.resources {
		if slices.Contains(other.Uses, r.Ref) && other.Kind != r.Kind && other.Kind != openstack.KindFloatingIP {
			return false, &openstack.Refusal{Code: 409, Message: "in use by " + other.Name, Temporary: true}
		}
	}
	if left := f.takes[r.Ref]; len(left) > 0 {
		if left[0] == "error" {
			f.takes[r.Ref] = left[1:]
		}
		f.going[r.Ref] = true
		return false, nil
	}
	f.drop(r.Ref)
	return true, nil
}

func (f *fakeCloud) Status(_ context.Context, r openstack.Resource) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.has(r.Ref) {
		return "", openstack.ErrNotFound
	}
	left := f.takes[r.Ref]
	if len(left) == 0 {
		f.drop(r.Ref)
		return "", openstack.ErrNotFound
	}
	if left[0] != "error" { // it stays so until somebody asks again
		f.takes[r.Ref] = left[1:]
	}
	return left[0], nil
}

func (f *fakeCloud) has(one openstack.Ref) bool {
	return slices.ContainsFunc(f.resources, func(r openstack.Resource) bool { return r.Ref == one })
}

func (f *fakeCloud) drop(one openstack.Ref) {
	f.resources = slices.DeleteFunc(f.resources, func(r openstack.Resource) bool { return r.Ref == one })
	f.deleted = append(f.deleted, one)
}

// cluster is what the provider makes for the cluster ns-<name>, with one machine; all is tagged unless bare.
func cluster(name string, bare bool) []openstack.Resource {
	r := "ns-" + name
	called := "k8s-clusterapi-cluster-" + r
	group := "k8s-cluster-" + r + "-secgroup-"
	mark := tagged(r)
	if bare {
		mark = func(*openstack.Resource) {}
	}
	port, server := name+"-cp-x-0", name+"-cp-x"
	return []openstack.Resource{
		a(openstack.KindServer, server, tagged(r), uses(openstack.KindPort, port), uses(openstack.KindVolume, server+"-root"), uses(openstack.KindServerGroup, r+"-control-plane")),
		a(openstack.KindPort, port, mark, described("Created by cluster-api-provider-openstack cluster "+name), partOf(openstack.KindServer, server), uses(openstack.KindInterface, r), uses(openstack.KindSubnet, called), uses(openstack.KindNetwork, called), uses(openstack.KindSecurityGroup, group+"controlplane")),
		a(openstack.KindVolume, server+"-root", described("Root volume for "+server), partOf(openstack.KindServer, server)),
		a(openstack.KindFloatingIP, "203.0.113."+name, described("Created by cluster-api-provider-openstack cluster "+r), mark, uses(openstack.KindPort, port), uses(openstack.KindInterface, r)),
		a(openstack.KindRouter, called, mark),
		a(openstack.KindInterface, r, partOf(openstack.KindRouter, called), uses(openstack.KindRouter, called), uses(openstack.KindSubnet, called), uses(openstack.KindNetwork, called)),
		a(openstack.KindSubnet, called, mark, uses(openstack.KindNetwork, called)),
		a(openstack.KindNetwork, called, mark),
		a(openstack.KindSecurityGroup, group+"controlplane", mark, uses(openstack.KindSecurityGroup, group+"worker")),
		a(openstack.KindSecurityGroup, group+"worker", mark, uses(openstack.KindSecurityGroup, group+"controlplane")),
		a(openstack.KindServerGroup, r+"-control-plane"),
	}
}
