package preflight

import (
	"context"
	"math/big"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/external"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/routers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/networkipavailabilities"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

func identifyNetwork(n networks.Network) (string, string) { return n.ID, n.Name }

// externalNetwork checks the network of floating IPs, and whether it has free addresses.
func (i *inspection) externalNetwork(ctx context.Context) {
	wanted := i.needs.ExternalNetwork
	if wanted == "" {
		return
	}
	yes := true
	there, err := all(ctx, networks.List(i.client.Network, external.ListOptsExt{ListOptsBuilder: networks.ListOpts{},
		External: &yes}), networks.ExtractNetworks)
	if !i.asked("external networks", err) {
		return
	}
	found, ok := named(i, "external network", wanted, "Set cluster.openstack.external_network to one of them; a "+
		"network is external when it has router:external.", there, identifyNetwork)
	if !ok {
		return
	}
	if len(found.Subnets) == 0 {
		i.problem("Ask the operator of the cloud for a subnet with addresses.",
			"external network %q has no subnet, so it has no addresses", found.Name)
		return
	}
	i.addresses(ctx, found)
}

// addresses compares the free IPv4 addresses of the external network with those that the cluster still takes from it.
// Most clouds hide them, which is not worth a note.
func (i *inspection) addresses(ctx context.Context, network networks.Network) {
	availability, err := openstack.Whole(networkipavailabilities.Get(ctx, i.client.Network,
		network.ID).Extract())
	if code := openstack.Status(err); code == http.StatusForbidden || code == http.StatusNotFound ||
		!i.asked("addresses of the external network", err) {
		return
	}
	free := int64(0)
	for _, subnet := range availability.SubnetIPAvailabilities {
		total, used := new(big.Int), new(big.Int)
		_, totalOK := total.SetString(subnet.TotalIPs, 10)
		_, usedOK := used.SetString(subnet.UsedIPs, 10)
		if left := total.Sub(total, used); subnet.IPVersion == 4 && totalOK && usedOK && left.IsInt64() {
			free += max(left.Int64(), 0)
		}
	}
	wanted := max(i.needs.Resources.FloatingIPs-i.has.floatingIPs, 0) + max(i.needs.Resources.Routers-i.has.routers, 0)
	if free < int64(wanted) {
		i.problem("Delete unused floating IPs, or ask the operator of the cloud for more addresses.",
			"external network %q has %d addresses left, and %d are wanted (floating IP, router)", network.Name, free,
			wanted)
	}
}

// ownNetwork checks the existing network, subnet and router.
func (i *inspection) ownNetwork(ctx context.Context) {
	if i.needs.Network != "" {
		there, err := all(ctx, networks.List(i.client.Network, networks.ListOpts{}), networks.ExtractNetworks)
		if i.asked("networks", err) {
			there = slices.DeleteFunc(there, func(n networks.Network) bool {
				return !n.Shared && i.foreign(n.ProjectID)
			})
			found, ok := named(i, "network", i.needs.Network,
				"Set cluster.openstack.network to one of them, or leave it empty to have one made.", there,
				identifyNetwork)
			if ok {
				i.subnet(ctx, found)
			}
		}
	}
	if i.needs.Router != "" {
		there, err := all(ctx, routers.List(i.client.Network, routers.ListOpts{}), routers.ExtractRouters)
		if i.asked("routers", err) {
			there = slices.DeleteFunc(there, func(r routers.Router) bool { return i.foreign(r.ProjectID) })
			named(i, "router", i.needs.Router, "Set cluster.openstack.router to one of them, or leave it empty to "+
				"have one made.", there,
				func(r routers.Router) (string, string) { return r.ID, r.Name })
		}
	}
}

// foreign reports whether a resource belongs to another project. Only an administrator sees those.
func (i *inspection) foreign(project string) bool {
	return project != "" && i.client.ProjectID != "" && project != i.client.ProjectID
}

func (i *inspection) subnet(ctx context.Context, network networks.Network) {
	there, err := all(ctx, subnets.List(i.client.Network, subnets.ListOpts{NetworkID: network.ID}),
		subnets.ExtractSubnets)
	switch {
	case !i.asked("subnets", err):
		return
	case i.needs.Subnet != "":
		if _, ok := named(i, "subnet of network "+network.Name, i.needs.Subnet, "Set cluster.openstack.subnet to one "+
			"of them.", there, func(s subnets.Subnet) (string, string) { return s.ID, s.Name }); !ok {
			return
		}
	case len(there) == 0:
		i.problem("Create a subnet in it, or use another network.",
			"network %q has no subnet that these credentials see",
			network.Name)
		return
	}
	i.virtualAddress(ctx, network)
}

// virtualAddress checks the address that the machines share. By Neutron's default policies, only the owner of a network
// may choose addresses in it, and allow machines' ports another one than their own.
func (i *inspection) virtualAddress(ctx context.Context, network networks.Network) {
	if i.needs.CheckAddress == nil {
		return
	}
	if i.foreign(network.ProjectID) {
		i.warn("network %q is shared by another project: most clouds let only its owner reserve an address in it, or "+
			"give one to several machines", network.Name)
	}
	if err := i.needs.CheckAddress(ctx); err != nil {
		i.problems = append(i.problems, err)
		i.unreachable = i.unreachable || fault.CodeOf(err) != fault.CloudLacks
	}
}

// floatingIP checks whether the address for the API server belongs to the project, and is free or this cluster's.
func (i *inspection) floatingIP(ctx context.Context) {
	wanted := i.needs.FloatingIP
	if wanted == "" {
		return
	}
	const hint = "Set cluster.openstack.api_server.floating_ip to one that is free, or leave it empty to have one made."
	there, err := all(ctx, floatingips.List(i.client.Network,
		floatingips.ListOpts{ProjectID: i.client.ProjectID}), floatingips.ExtractFloatingIPs)
	if !i.asked("floating IPs", err) {
		return
	}
	var free []string
	for _, ip := range there {
		if ip.PortID == "" {
			free = append(free, ip.FloatingIP)
		}
		if ip.FloatingIP != wanted {
			continue
		}
		if ip.PortID == "" {
			return
		}
		if ours, known := i.isOurs(ctx, ip); known && !ours {
			i.problem(hint, "floating IP %s is in use by port %s, which is not this cluster's", wanted, ip.PortID)
		}
		return
	}
	i.problem(hint, "floating IP %s is not one of project %s; free there are: %s", wanted, i.client.ProjectName,
		some(free))
}

// isOurs reports whether the port of a floating IP belongs to this cluster: it carries its tag, is in its network, or
// is at one of its servers. If known is false, the report says which query was not answered.
func (i *inspection) isOurs(ctx context.Context, ip floatingips.FloatingIP) (ours, known bool) {
	if slices.Contains(i.has.portIDs, ip.PortID) {
		return true, true
	}
	port, err := ports.Get(ctx, i.client.Network, ip.PortID).Extract()
	if openstack.Status(err) == http.StatusNotFound { // the network service hides ports of other projects
		return false, true
	}
	if !i.asked("the port of floating IP "+ip.FloatingIP, err) {
		return false, false
	}
	return slices.Contains(i.has.serverIDs, port.DeviceID), i.has.serversKnown
}
