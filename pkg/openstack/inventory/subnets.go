package inventory

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// Networks lists the networks in which the project can have ports: its own ones and those that others share.
func (c Project) Networks(ctx context.Context) ([]openstack.Resource, error) {
	rows, err := readRows[networkRow](ctx, c.Network, "networks", "networks", nil)
	if err != nil {
		return nil, err
	}
	var all []openstack.Resource
	for _, row := range rows {
		if row.ID == "" {
			return nil, errors.New("listing networks: an entry has no ID")
		}
		if row.Shared || row.Project == "" || row.Project == c.ProjectID {
			all = append(all, row.resource(openstack.KindNetwork).Resource)
		}
	}
	return all, nil
}

// Subnet is a subnet with its addresses. Gateway is empty if it has none.
type Subnet struct {
	openstack.Resource
	CIDR, Gateway string
}

// Subnets lists those of a network.
func (c Project) Subnets(ctx context.Context, network string) ([]Subnet, error) {
	rows, err := readRows[subnetRow](ctx, c.Network, "subnets", "subnets", url.Values{"network_id": {network}})
	if err != nil {
		return nil, err
	}
	var all []Subnet
	for _, row := range rows {
		if row.ID == "" || row.CIDR == "" {
			return nil, errors.New("listing subnets: an entry has no ID or no CIDR")
		}
		if row.Network == network {
			all = append(all, Subnet{row.resource(openstack.KindSubnet).Resource, row.CIDR, row.Gateway})
		}
	}
	return all, nil
}

// Port is a port with its addresses. Device and Owner say what has it; both are empty if nothing does.
type Port struct {
	openstack.Resource
	Network, Device, Owner string
	Addresses              []string
	// Pairs are addresses, or networks, that its device may use besides.
	Pairs []string
}

// PortsAt lists the ports of a network that have an address, as far as the project sees them: those of another project
// are hidden, unless the network is this project's.
func (c Project) PortsAt(ctx context.Context, network, address string) ([]Port, error) {
	all, err := c.readPorts(ctx, url.Values{"network_id": {network}, "fixed_ips": {"ip_address=" + address}})
	// a cloud that does not know a filter returns all there is
	return slices.DeleteFunc(all, func(p Port) bool {
		return p.Network != network || !slices.Contains(p.Addresses, address)
	}), err
}

// OwnPorts lists the ports of the project.
func (c Project) OwnPorts(ctx context.Context) ([]Port, error) {
	all, err := c.readPorts(ctx, c.ofProject())
	return slices.DeleteFunc(all, func(p Port) bool { return p.Project != "" && p.Project != c.ProjectID }), err
}

func (c Project) readPorts(ctx context.Context, query url.Values) ([]Port, error) {
	rows, err := readRows[portRow](ctx, c.Network, "ports", "ports", query)
	if err != nil {
		return nil, err
	}
	var all []Port
	for _, row := range rows {
		if row.ID == "" || row.Network == "" {
			return nil, errors.New("listing ports: an entry has no ID or no network")
		}
		port := Port{Resource: row.port().Resource, Network: row.Network, Device: row.Device, Owner: row.Owner}
		for _, ip := range row.FixedIPs {
			port.Addresses = append(port.Addresses, ip.Address)
		}
		for _, pair := range row.Pairs {
			port.Pairs = append(port.Pairs, pair.Address)
		}
		all = append(all, port)
	}
	return all, nil
}
