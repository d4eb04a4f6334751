package preflight

import (
	"context"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servergroups"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
)

// withTags is the first version of the compute API whose list of servers contains their flavor's size, and their tags.
const withTags = "2.47"

// present is what the cluster has already. A resumed run must not count it twice.
type present struct {
	servers, cores, ram, volumes                                                int // ram in MiB
	networks, subnets, routers, ports, floatingIPs, groups, rules, serverGroups int
	serverIDs, portIDs                                                          []string
	serversKnown                                                                bool // false: serverIDs may lack some
}

// tagged keeps what carries the tag: a cloud that does not know the filter returns all there is.
func tagged[T any](all []T, tag string, tags func(T) []string) []T {
	return slices.DeleteFunc(all, func(one T) bool { return !slices.Contains(tags(one), tag) })
}

// present counts what the cluster has: by its tag, server groups by name, ports also by its networks.
func (i *inspection) present(ctx context.Context) {
	i.presentServers(ctx)
	if i.unreachable {
		return
	}
	i.presentNetworks(ctx)
	if groups, err := all(ctx, servergroups.List(i.client.Compute, nil), servergroups.ExtractServerGroups); i.asked(
		"server groups", err) {
		for _, group := range groups {
			if slices.Contains(i.needs.ServerGroups, group.Name) {
				i.has.serverGroups++
			}
		}
	}
}

func (i *inspection) presentServers(ctx context.Context) {
	compute := *i.client.Compute
	compute.Microversion = withTags
	made, err := all(ctx, servers.List(&compute, servers.ListOpts{Tags: i.needs.Tag}), servers.ExtractServers)
	if !i.asked("servers", err) {
		return
	}
	i.has.serversKnown = true
	for _, server := range made {
		if server.Tags == nil || !slices.Contains(*server.Tags, i.needs.Tag) {
			continue
		}
		i.has.servers++
		i.has.serverIDs = append(i.has.serverIDs, server.ID)
		i.has.cores += number(server.Flavor["vcpus"])
		i.has.ram += number(server.Flavor["ram"])
		if len(server.Image) == 0 { // it boots from a volume
			i.has.volumes++
		}
	}
}

func number(value any) int {
	n, _ := value.(float64) // of JSON
	return int(n)
}

func (i *inspection) presentNetworks(ctx context.Context) {
	// The project excludes what an administrator sees of a cluster of the same name in another one.
	tag, client, project := i.needs.Tag, i.client.Network, i.client.ProjectID
	onNetworks := map[string]bool{}
	if some, err := all(ctx, networks.List(client, networks.ListOpts{Tags: tag, ProjectID: project}),
		networks.ExtractNetworks); i.asked("networks", err) {
		for _, network := range tagged(some, tag, func(n networks.Network) []string { return n.Tags }) {
			i.has.networks++
			onNetworks[network.ID] = true
		}
	}
	if some, err := all(ctx, subnets.List(client, subnets.ListOpts{Tags: tag, ProjectID: project}),
		subnets.ExtractSubnets); i.asked("subnets", err) {
		i.has.subnets = len(tagged(some, tag, func(s subnets.Subnet) []string { return s.Tags }))
	}
	if some, err := all(ctx, routers.List(client, routers.ListOpts{Tags: tag, ProjectID: project}),
		routers.ExtractRouters); i.asked("routers", err) {
		i.has.routers = len(tagged(some, tag, func(r routers.Router) []string { return r.Tags }))
	}
	if some, err := all(ctx, floatingips.List(client, floatingips.ListOpts{ProjectID: project}),
		floatingips.ExtractFloatingIPs); i.asked("floating IPs", err) {
		for _, ip := range some {
			if slices.Contains(ip.Tags, tag) || ip.Description != "" && ip.Description == i.needs.AddressDescription {
				i.has.floatingIPs++
			}
		}
	}
	if some, err := all(ctx, groups.List(client, groups.ListOpts{Tags: tag, ProjectID: project}),
		groups.ExtractGroups); i.asked("security groups", err) {
		for _, group := range tagged(some, tag, func(g groups.SecGroup) []string { return g.Tags }) {
			i.has.groups++
			i.has.rules += len(group.Rules)
		}
	}
	// Routers' and DHCP's ports on the cluster's network carry no tag.
	if some, err := all(ctx, ports.List(client, ports.ListOpts{ProjectID: project}), ports.ExtractPorts); i.asked(
		"ports", err) {
		for _, port := range some {
			if onNetworks[port.NetworkID] || slices.Contains(port.Tags, tag) ||
				port.Description != "" && port.Description == i.needs.AddressDescription {
				i.has.ports++
				i.has.portIDs = append(i.has.portIDs, port.ID)
			}
		}
	}
}
