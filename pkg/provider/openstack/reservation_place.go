package openstack

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
)

// place is where an address is, by ID.
type place struct{ network, subnet string }

// place finds the machines' subnet, and refuses an address that no machine of it could have.
func (r reservation) place(ctx context.Context) (place, error) {
	networks, err := r.project.Networks(ctx)
	if err != nil {
		return place{}, notAnswered("list the networks", err)
	}
	network, err := only("network", r.network,
		"Set cluster.openstack.network to an ID that openstack network list prints.", networks)
	if err != nil {
		return place{}, err
	}
	all, err := r.project.Subnets(ctx, network)
	if err != nil {
		return place{}, notAnswered("list the subnets of network "+r.network, err)
	}
	if r.subnet != "" {
		var resources []cloud.Resource
		for _, s := range all {
			resources = append(resources, s.Resource)
		}
		id, err := only("subnet", r.subnet,
			"Set cluster.openstack.subnet to an ID that openstack subnet list prints for the network.", resources)
		if err != nil {
			return place{}, err
		}
		all = slices.DeleteFunc(all, func(s inventory.Subnet) bool { return s.ID != id })
	}
	var ranges []string
	for _, subnet := range all {
		why, inside := unusable(r.address, subnet)
		switch {
		case inside && why == "":
			return place{network: network, subnet: subnet.ID}, nil
		case inside:
			return place{}, r.misplaced("is " + why + " of subnet " + subnet.Title())
		}
		ranges = append(ranges, subnet.CIDR)
	}
	return place{}, r.misplaced(fmt.Sprintf("is in no subnet that the machines have in network %q; there are: %s",
		r.network, strings.Join(ranges, ", ")))
}

func (r reservation) misplaced(why string) error {
	return fault.New(fault.CloudLacks, fmt.Sprintf("address %s of the API server %s", r.address, why),
		"Set cluster.openstack.api_server.fixed_ip to a free address of the machines' subnet.")
}

// unusable returns whether an address is in a subnet, and what it is there if no machine can have it.
func unusable(address string, subnet inventory.Subnet) (why string, inside bool) {
	of, err := netip.ParseAddr(address)
	prefix, errPrefix := netip.ParsePrefix(subnet.CIDR)
	if err != nil || errPrefix != nil || !prefix.Contains(of) {
		return "", false
	}
	after := of.Next()
	switch {
	case address == subnet.Gateway:
		return "the gateway", true
	case prefix.Bits() >= 31: // all are hosts
	case of == prefix.Masked().Addr():
		return "the network address", true
	case !prefix.Contains(after):
		return "the broadcast address", true
	}
	return "", true
}

// only returns the ID of the only resource with an ID or a name.
func only(kind, wanted, hint string, all []cloud.Resource) (string, error) {
	var ids []string
	for _, r := range all {
		if r.ID == wanted {
			return r.ID, nil
		}
		if r.Name == wanted {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 1 {
		return ids[0], nil
	}
	return "", fault.New(fault.CloudLacks, fmt.Sprintf("the cloud has %d %ss called %q", len(ids), kind, wanted), hint)
}
