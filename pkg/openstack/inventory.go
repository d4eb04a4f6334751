package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Kind is what a resource is.
type Kind string

// The kinds that a cluster's controllers make, or that hang on what they make.
const (
	KindLoadBalancer  Kind = "load-balancer"
	KindServer        Kind = "server"
	KindServerGroup   Kind = "server-group"
	KindVolume        Kind = "volume"
	KindSnapshot      Kind = "volume-snapshot"
	KindFloatingIP    Kind = "floating-ip"
	KindTrunk         Kind = "trunk"
	KindPort          Kind = "port"
	KindInterface     Kind = "router-interface" // a port of a router, which goes by another call than other ports
	KindRouter        Kind = "router"
	KindSubnet        Kind = "subnet"
	KindNetwork       Kind = "network"
	KindSecurityGroup Kind = "security-group"
)

// Ref names a resource.
type Ref struct {
	Kind Kind
	ID   string
}

// Resource is one resource of a cloud and how it stands to others.
type Resource struct {
	Ref
	Name, Description, Status string
	// Project is the ID of its project; empty when the cloud does not say.
	Project string
	Tags    []string
	// Properties are the metadata of a server, volume or snapshot.
	Properties map[string]string
	// Created is zero when the cloud does not say.
	Created time.Time
	// Uses are resources that cannot go, or must not, while this one is there. They need not be in the inventory.
	Uses []Ref
	// PartOf is what takes this one along when it goes: the server of a port or of a volume that is deleted on
	// termination, the load balancer of its port, the router of an interface, the port of a trunk. Zero: nothing.
	PartOf Ref

	usedBy, takes []Ref  // what a list says the other way round: see link
	router        string // of a floating IP that is in use
}

// Inventory is what a project has.
type Inventory struct {
	// Project is the ID of the project that the credentials are for.
	Project   string
	Resources []Resource
	// Unknown are the kinds that could not be listed, and why. Interfaces are listed as ports.
	Unknown map[Kind]error
}

// parallelQuestions bounds how many lists are read at a time.
const parallelQuestions = 8

// Inventory reads all resources of the project, whatever else the credentials can see, and the ports of others on its
// networks. What could not be listed is in Unknown, which is not an error of the whole; credentials without a project
// are, and the end of ctx.
func (c *Client) Inventory(ctx context.Context) (Inventory, error) {
	if c.ProjectID == "" {
		return Inventory{}, fault.New(fault.CloudRefused, "the credentials are for no project", "Use credentials of the project whose resources are meant.")
	}
	lists := c.lists()
	found, failed := make([][]Resource, len(lists)), make([]error, len(lists))
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
		return Inventory{}, ctx.Err()
	}
	inventory := Inventory{Project: c.ProjectID, Unknown: map[Kind]error{}}
	for i, one := range lists {
		if failed[i] != nil {
			inventory.Unknown[one.kind] = failed[i]
			continue
		}
		inventory.Resources = append(inventory.Resources, found[i]...)
	}
	link(inventory.Resources)
	if inventory.Unknown[KindServer] == nil {
		if err := c.unlisted(ctx, inventory.Resources); err != nil {
			inventory.Unknown[KindServer] = err
		}
	}
	if inventory.withoutLoadBalancers() {
		delete(inventory.Unknown, KindLoadBalancer)
	}
	return inventory, nil
}

// unlisted fails when a port or a volume of the project names a server that is not in the list and not gone either: nova
// leaves out those of a part of it that is down, and those that it will only delete later.
func (c *Client) unlisted(ctx context.Context, resources []Resource) error {
	asked := map[Ref]bool{{}: true}
	for _, r := range resources {
		if r.Kind == KindServer {
			asked[r.Ref] = true
		}
	}
	for _, r := range resources {
		for _, server := range append(r.usedBy, r.PartOf) {
			if asked[server] || server.Kind != KindServer || r.Project != "" && r.Project != c.ProjectID {
				continue
			}
			asked[server] = true
			status, err := c.Status(ctx, Resource{Ref: server})
			switch {
			case err == nil:
				return fmt.Errorf("listing servers: %s of %s %s is there (%s) and not in the list", server.ID, r.Kind, r.ID, status)
			case !errors.Is(err, ErrNotFound):
				return fmt.Errorf("asking for server %s of %s %s, which is not in the list: %w", server.ID, r.Kind, r.ID, err)
			}
		}
	}
	return nil
}

// withoutLoadBalancers tells that there are none although they may not be listed: Octavia asks for a role of its own, which
// users who have no load balancers often lack. Each one has a port in its project.
func (i Inventory) withoutLoadBalancers() bool {
	refused, is := errors.AsType[*Refusal](i.Unknown[KindLoadBalancer])
	return is && refused.Code == http.StatusForbidden && i.Unknown[KindPort] == nil &&
		!slices.ContainsFunc(i.Resources, func(r Resource) bool { return r.PartOf.Kind == KindLoadBalancer })
}

// listing is one question to the cloud.
type listing struct {
	kind Kind
	read func(context.Context) ([]Resource, error)
}

// lists are all questions; services that the cloud has not are not asked.
func (c *Client) lists() []listing {
	all := []listing{
		{KindServer, c.servers}, {KindPort, c.ports}, {KindServerGroup, c.serverGroups}, {KindFloatingIP, c.floatingIPs},
		{KindRouter, c.routers}, {KindSubnet, c.subnets}, {KindNetwork, c.networks}, {KindSecurityGroup, c.securityGroups}, {KindTrunk, c.trunks},
	}
	if c.BlockStorage != nil {
		all = append(all, listing{KindVolume, c.volumes}, listing{KindSnapshot, c.snapshots})
	}
	if c.LoadBalancer != nil {
		all = append(all, listing{KindLoadBalancer, c.loadBalancers})
	}
	return all
}

// trunks are an extension of Neutron that a cloud need not have.
func (c *Client) trunks(ctx context.Context) ([]Resource, error) {
	found, err := read(ctx, c.Network, "trunks", "trunks", c.ofProject(), func(t trunkRow) Resource {
		r := t.resource(KindTrunk)
		r.PartOf = Ref{KindPort, t.Port}
		r.Uses = append(r.Uses, r.PartOf)
		for _, sub := range t.Subports {
			r.Uses = append(r.Uses, Ref{KindPort, sub.Port})
		}
		return r
	})
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return found, err
}
