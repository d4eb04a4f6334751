package openstack

import (
	"slices"
	"strings"
)

// ofNeutron tells of ports that Neutron makes on a network and takes away with it, or with a distributed router's
// interface.
func (p portRow) ofNeutron() bool {
	return slices.Contains([]string{"network:dhcp", "network:distributed", "network:floatingip_agent_gateway", "network:router_centralized_snat"}, p.Owner)
}

// ofRouter tells of a router's interface, in all forms that routers have.
func (p portRow) ofRouter() bool {
	return slices.Contains([]string{"network:router_interface", "network:router_interface_distributed", "network:ha_router_replicated_interface"}, p.Owner)
}

// ofLoadBalancer tells of a load balancer's port; each provider of Octavia calls its ports otherwise.
func (p portRow) ofLoadBalancer() bool {
	owner := strings.ToLower(p.Owner)
	return strings.Contains(owner, "octavia") || strings.Contains(owner, "loadbalancer") || strings.HasPrefix(owner, "ovn-lb")
}

func (p portRow) port() Resource {
	r := p.resource(KindPort)
	switch {
	case p.ofRouter():
		r.Kind, r.PartOf = KindInterface, Ref{KindRouter, p.Device}
		r.Uses = append(r.Uses, r.PartOf)
	case strings.HasPrefix(p.Owner, "compute:"):
		r.PartOf = Ref{KindServer, p.Device}
	case p.ofLoadBalancer():
		r.PartOf = Ref{KindLoadBalancer, strings.TrimPrefix(p.Device, "lb-")}
	}
	for _, ip := range p.FixedIPs {
		r.Uses = append(r.Uses, Ref{KindSubnet, ip.Subnet})
	}
	r.Uses = append(r.Uses, Ref{KindNetwork, p.Network})
	for _, group := range p.SecurityGroups {
		r.Uses = append(r.Uses, Ref{KindSecurityGroup, group})
	}
	return r
}

// link adds what only two lists together tell: who uses a server's port, a server group or a volume, which volumes go
// with their server, and who needs a router's interface.
func link(resources []Resource) {
	at := map[Ref]int{}
	for i, r := range resources {
		at[r.Ref] = i
	}
	interfaces := map[Ref][]Ref{} // of a router and of a subnet
	for i, r := range resources {
		for _, user := range append(r.usedBy, r.PartOf) {
			// An interface and a trunk use what they are part of, not the other way round.
			if j, found := at[user]; found && r.Kind != KindInterface && r.Kind != KindTrunk && !slices.Contains(resources[j].Uses, r.Ref) {
				resources[j].Uses = append(resources[j].Uses, r.Ref)
			}
		}
		for _, taken := range r.takes {
			if j, found := at[taken]; found {
				resources[j].PartOf = r.Ref
			}
		}
		if r.Kind != KindInterface {
			continue
		}
		for _, used := range resources[i].Uses {
			if used.Kind == KindRouter || used.Kind == KindSubnet {
				interfaces[used] = append(interfaces[used], r.Ref)
			}
		}
	}
	for i := range resources {
		r := &resources[i]
		switch r.Kind {
		case KindPort: // whoever is on a subnet reaches others through its router
			for _, used := range slices.Clone(r.Uses) {
				if used.Kind == KindSubnet {
					r.Uses = append(r.Uses, interfaces[used]...)
				}
			}
		case KindFloatingIP: // Neutron refuses to take an interface from its router
			r.Uses = append(r.Uses, interfaces[Ref{KindRouter, r.router}]...)
		case KindServer: // and a trunk goes before its port
			for _, t := range resources {
				if t.Kind == KindTrunk && slices.Contains(r.Uses, t.PartOf) {
					r.Uses = append(r.Uses, t.Ref)
				}
			}
		}
	}
}
