package inventory

import (
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// ofNeutron reports whether Neutron itself makes the port, and removes it with the network or with a distributed
// router's interface.
func (p portRow) ofNeutron() bool {
	return slices.Contains([]string{"network:dhcp", "network:distributed", "network:floatingip_agent_gateway",
		"network:router_centralized_snat"}, p.Owner)
}

// ofRouter reports whether a port is a router's interface, in all forms that routers have.
func (p portRow) ofRouter() bool {
	return slices.Contains([]string{"network:router_interface", "network:router_interface_distributed",
		"network:ha_router_replicated_interface"}, p.Owner)
}

// ofLoadBalancer reports whether a port is a load balancer's. Each provider of Octavia names its ports differently.
func (p portRow) ofLoadBalancer() bool {
	owner := strings.ToLower(p.Owner)
	return strings.Contains(owner, "octavia") || strings.Contains(owner, "loadbalancer") ||
		strings.HasPrefix(owner, "ovn-lb")
}

func (p portRow) port() entry {
	r := p.resource(openstack.KindPort)
	switch {
	case p.ofRouter():
		r.Kind, r.PartOf = openstack.KindInterface, openstack.Ref{Kind: openstack.KindRouter, ID: p.Device}
		r.Uses = append(r.Uses, r.PartOf)
	case strings.HasPrefix(p.Owner, "compute:"):
		r.PartOf = openstack.Ref{Kind: openstack.KindServer, ID: p.Device}
	case p.ofLoadBalancer():
		r.PartOf = openstack.Ref{Kind: openstack.KindLoadBalancer, ID: strings.TrimPrefix(p.Device, "lb-")}
	}
	for _, ip := range p.FixedIPs {
		r.Uses = append(r.Uses, openstack.Ref{Kind: openstack.KindSubnet, ID: ip.Subnet})
	}
	r.Uses = append(r.Uses, openstack.Ref{Kind: openstack.KindNetwork, ID: p.Network})
	for _, group := range p.SecurityGroups {
		r.Uses = append(r.Uses, openstack.Ref{Kind: openstack.KindSecurityGroup, ID: group})
	}
	return r
}

// link adds relations that only two lists together show: who uses a server's port, a server group or a volume, which
// volumes are deleted with their server, and who needs a router's interface.
func link(resources []entry) {
	at := map[openstack.Ref]int{}
	for i, r := range resources {
		at[r.Ref] = i
	}
	interfaces := map[openstack.Ref][]openstack.Ref{} // of a router and of a subnet
	for i, r := range resources {
		for _, user := range append(r.usedBy, r.PartOf) {
			// An interface and a trunk use what they are part of, not the other way round.
			if j, found := at[user]; found && r.Kind != openstack.KindInterface && r.Kind != openstack.KindTrunk &&
				!slices.Contains(resources[j].Uses, r.Ref) {
				resources[j].Uses = append(resources[j].Uses, r.Ref)
			}
		}
		for _, taken := range r.takes {
			if j, found := at[taken]; found {
				resources[j].PartOf = r.Ref
			}
		}
		if r.Kind != openstack.KindInterface {
			continue
		}
		for _, used := range resources[i].Uses {
			if used.Kind == openstack.KindRouter || used.Kind == openstack.KindSubnet {
				interfaces[used] = append(interfaces[used], r.Ref)
			}
		}
	}
	for i := range resources {
		r := &resources[i]
		switch r.Kind {
		case openstack.KindPort: // whoever is on a subnet reaches others through its router
			for _, used := range slices.Clone(r.Uses) {
				if used.Kind == openstack.KindSubnet {
					r.Uses = append(r.Uses, interfaces[used]...)
				}
			}
		case openstack.KindFloatingIP: // it keeps Neutron from removing the interfaces of its router
			r.Uses = append(r.Uses, interfaces[openstack.Ref{Kind: openstack.KindRouter, ID: r.router}]...)
		case openstack.KindServer: // Neutron deletes no trunk whose port a server uses
			for _, t := range resources {
				if t.Kind == openstack.KindTrunk && slices.Contains(r.Uses, t.PartOf) {
					r.Uses = append(r.Uses, t.Ref)
				}
			}
		}
	}
}
