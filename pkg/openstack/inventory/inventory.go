// Package inventory lists the resources of a project in an OpenStack cloud, with their relations.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// Project is a client that can list all resources of its project.
type Project struct{ *openstack.Client }

// entry is a resource, with what its list says about others.
type entry struct {
	openstack.Resource
	usedBy, takes []openstack.Ref // what a list says the other way round: see link
	router        string          // of a floating IP that is in use
}

// parallelQuestions bounds how many lists are read at a time.
const parallelQuestions = 8

// Inventory lists the resources of the project, whatever else the credentials can see, and foreign ports on its
// networks. It omits ports that Neutron itself manages. A kind that cannot be listed is in Unknown and is no error.
func (c Project) Inventory(ctx context.Context) (openstack.Inventory, error) {
	if c.ProjectID == "" {
		return openstack.Inventory{}, fault.New(fault.CloudRefused, "the credentials are for no project",
			"Use credentials of the project whose resources are meant.")
	}
	lists := c.lists()
	found, failed := make([][]entry, len(lists)), make([]error, len(lists))
	var group errgroup.Group
	group.SetLimit(parallelQuestions)
	for i, one := range lists {
		group.Go(func() error {
			found[i], failed[i] = one.read(ctx)
			return nil
		})
	}
	_ = group.Wait() // its errors are in failed
	if ctx.Err() != nil {
		return openstack.Inventory{}, ctx.Err()
	}
	inventory := openstack.Inventory{Project: c.ProjectID, Unknown: map[openstack.Kind]error{}}
	var entries []entry
	for i, one := range lists {
		if failed[i] != nil {
			inventory.Unknown[one.kind] = failed[i]
			continue
		}
		entries = append(entries, found[i]...)
	}
	link(entries)
	for _, e := range entries {
		inventory.Resources = append(inventory.Resources, e.Resource)
	}
	if inventory.Unknown[openstack.KindServer] == nil {
		if err := c.unlisted(ctx, entries); err != nil {
			inventory.Unknown[openstack.KindServer] = err
		}
	}
	if withoutLoadBalancers(inventory) {
		delete(inventory.Unknown, openstack.KindLoadBalancer)
	}
	return inventory, nil
}

// unlisted fails if a resource of the project names a server that is neither in the list nor gone: Nova omits servers
// of a cell that is down, and servers that it will delete later.
func (c Project) unlisted(ctx context.Context, resources []entry) error {
	asked := map[openstack.Ref]bool{{}: true}
	for _, r := range resources {
		if r.Kind == openstack.KindServer {
			asked[r.Ref] = true
		}
	}
	for _, r := range resources {
		for _, server := range append(r.usedBy, r.PartOf) {
			if asked[server] || server.Kind != openstack.KindServer || r.Project != "" && r.Project != c.ProjectID {
				continue
			}
			asked[server] = true
			status, err := c.Status(ctx, openstack.Resource{Ref: server})
			switch {
			case err == nil:
				return fmt.Errorf("listing servers: %s of %s %s is there (%s) and not in the list", server.ID, r.Kind,
					r.ID, status)
			case !errors.Is(err, openstack.ErrNotFound):
				return fmt.Errorf("asking for server %s of %s %s, which is not in the list: %w", server.ID, r.Kind,
					r.ID, err)
			}
		}
	}
	return nil
}

// withoutLoadBalancers reports whether the ports prove that there are no load balancers although listing is forbidden:
// each has a port in its project. Users without load balancers often lack the role that Octavia requires.
func withoutLoadBalancers(i openstack.Inventory) bool {
	refused, is := errors.AsType[*openstack.Refusal](i.Unknown[openstack.KindLoadBalancer])
	return is && refused.Code == http.StatusForbidden && i.Unknown[openstack.KindPort] == nil &&
		!slices.ContainsFunc(i.Resources,
			func(r openstack.Resource) bool { return r.PartOf.Kind == openstack.KindLoadBalancer })
}

// listing reads the resources of one kind.
type listing struct {
	kind openstack.Kind
	read func(context.Context) ([]entry, error)
}

// lists returns all listings, except those of services that the cloud does not have.
func (c Project) lists() []listing {
	all := []listing{
		{openstack.KindServer, c.servers}, {openstack.KindPort, c.ports}, {openstack.KindServerGroup, c.serverGroups},
		{openstack.KindFloatingIP, c.floatingIPs},
		{openstack.KindRouter, c.routers}, {openstack.KindSubnet, c.subnets}, {openstack.KindNetwork, c.networks},
		{openstack.KindSecurityGroup, c.securityGroups}, {openstack.KindTrunk, c.trunks},
	}
	if c.BlockStorage != nil {
		all = append(all, listing{openstack.KindVolume, c.volumes}, listing{openstack.KindSnapshot, c.snapshots})
	}
	if c.LoadBalancer != nil {
		all = append(all, listing{openstack.KindLoadBalancer, c.loadBalancers})
	}
	return all
}

// trunks are an extension of Neutron that a cloud need not have.
func (c Project) trunks(ctx context.Context) ([]entry, error) {
	found, err := read(ctx, c.Network, "trunks", "trunks", c.ofProject(), func(t trunkRow) entry {
		r := t.resource(openstack.KindTrunk)
		r.PartOf = openstack.Ref{Kind: openstack.KindPort, ID: t.Port}
		r.Uses = append(r.Uses, r.PartOf)
		for _, sub := range t.Subports {
			r.Uses = append(r.Uses, openstack.Ref{Kind: openstack.KindPort, ID: sub.Port})
		}
		return r
	})
	if errors.Is(err, openstack.ErrNotFound) {
		return nil, nil
	}
	return found, err
}
