// Package leftovers finds and deletes what a cluster has left in a project of OpenStack: what Cluster API's provider,
// the cloud controller manager, the CSI driver and our own components made for it, and nothing of other owners.
package leftovers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// where is the name of OpenStack in plans and receipts.
const where = "openstack"

// Cloud is the part of a project that is needed. openstack/inventory.Project is the real one.
type Cloud interface {
	Inventory(context.Context) (openstack.Inventory, error)
	Delete(context.Context, openstack.Resource) (gone bool, err error)
	Status(context.Context, openstack.Resource) (string, error)
	Disassociate(context.Context, openstack.Resource) error
}

// Cluster is the cluster whose leftovers are searched.
type Cluster struct {
	Namespace string // of the Cluster API objects, which is part of names
	Name      string
	// the user's own router, by name or ID, that the cluster's subnet was connected to; empty: the cluster's own
	Router string
}

// resourceName is the base of names that Cluster API's provider makes: <namespace>-<cluster>.
func (c Cluster) resourceName() string { return owned.CloudName(c.Namespace, c.Name) }

// Project is a project with the leftovers of a cluster. Only Look needs the Cluster.
type Project struct {
	Cloud   Cloud
	Cluster Cluster
}

var (
	_ provider.Leftovers = Project{}
	_ provider.Releaser  = Project{}
)

// Look lists the project and compares each resource with the cluster. A kind that could not be listed is unknown.
func (p Project) Look(ctx context.Context) (provider.Found, error) {
	inventory, err := p.Cloud.Inventory(ctx)
	if err != nil {
		return provider.Found{}, err
	}
	return p.Cluster.found(inventory), nil
}

// Delete makes one request.
func (p Project) Delete(ctx context.Context, l provider.Leftover) (gone bool, err error) {
	gone, err = p.Cloud.Delete(ctx, resource(l))
	return gone, answer(err)
}

// Release disconnects a floating IP from its port. No other kind can be released.
func (p Project) Release(ctx context.Context, l provider.Leftover) (released bool, err error) {
	if openstack.Kind(l.Kind) != openstack.KindFloatingIP {
		return false, nil
	}
	return true, answer(p.Cloud.Disassociate(ctx, resource(l)))
}

// Going checks the status of a resource that still exists.
func (p Project) Going(ctx context.Context, l provider.Leftover) (bool, error) {
	status, err := p.Cloud.Status(ctx, resource(l))
	return !strings.HasPrefix(status, "error"), answer(err)
}

// Survey counts resources with a tag, and addresses that a killed run left without one. A kind that cannot be listed is
// an error.
func (p Project) Survey(ctx context.Context) ([]provider.Remains, error) {
	inventory, err := p.Cloud.Inventory(ctx)
	if err != nil {
		return nil, err
	}
	for _, kind := range slices.Sorted(maps.Keys(inventory.Unknown)) {
		return nil, inventory.Unknown[kind]
	}
	things := map[string]int{}
	for _, r := range inventory.Resources {
		tagged := false
		for _, tag := range r.Tags {
			if cluster, is := owned.CloudNameOfTag(tag); is {
				things[cluster]++
				tagged = true
			}
		}
		if cluster, is := owned.CloudNameOfAddress(r.Description); is && !tagged {
			things[cluster]++
		}
	}
	var all []provider.Remains
	for _, cluster := range slices.Sorted(maps.Keys(things)) {
		all = append(all, provider.Remains{Cluster: cluster, Where: where, Things: things[cluster]})
	}
	return all, nil
}

// answer translates an error of the cloud into the provider's errors.
func answer(err error) error {
	switch {
	case errors.Is(err, openstack.ErrNotFound):
		return provider.ErrGone
	case openstack.Temporary(err):
		return fault.Retryable(err, fault.CleanupFailed, "")
	case openstack.Forbidden(err):
		return forbidden{err}
	}
	return err
}

// forbidden is both the cloud's own error and provider.ErrForbidden.
type forbidden struct{ error }

// Unwrap returns both.
func (f forbidden) Unwrap() []error { return []error{f.error, provider.ErrForbidden} }

// leftover converts a resource, without its relations.
func leftover(r openstack.Resource, proof string) provider.Leftover {
	return provider.Leftover{Where: where, Kind: string(r.Kind), ID: r.ID, Name: r.Title(), Proof: proof,
		Rank:   slices.Index(forPeople(), r.Kind),
		PartOf: r.PartOf.ID, Created: r.Created, Machine: r.Kind == openstack.KindServer}
}

// resource is what the cloud needs to know of a leftover. Only an interface needs the router that has it.
func resource(l provider.Leftover) openstack.Resource {
	r := openstack.Resource{Ref: openstack.Ref{Kind: openstack.Kind(l.Kind), ID: l.ID}, Name: l.Name}
	if r.Kind == openstack.KindInterface {
		r.PartOf = openstack.Ref{Kind: openstack.KindRouter, ID: l.PartOf}
	}
	return r
}

// forPeople are the kinds in the order in which a person thinks of them.
func forPeople() []openstack.Kind {
	return []openstack.Kind{
		openstack.KindLoadBalancer, openstack.KindServer, openstack.KindServerGroup, openstack.KindVolume,
		openstack.KindSnapshot, openstack.KindFloatingIP,
		openstack.KindRouter, openstack.KindInterface, openstack.KindNetwork, openstack.KindSubnet, openstack.KindTrunk,
		openstack.KindPort, openstack.KindSecurityGroup,
	}
}
