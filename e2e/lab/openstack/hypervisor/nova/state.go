package nova

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
)

// State returns the servers and load balancers of all projects, and the networks, ports and floating addresses. It
// lists servers and load balancers first: their ports exist before they work.
func (c *Cloud) State(ctx context.Context) (hypervisor.State, error) {
	var state hypervisor.State
	var err error
	if state.Servers, err = c.servers(ctx); err != nil {
		return state, err
	}
	if state.Balancers, err = c.balancers(ctx); err != nil || len(state.Servers)+len(state.Balancers) == 0 {
		return state, err
	}
	if state.Networks, err = c.networks(ctx); err != nil {
		return state, err
	}
	if state.Ports, err = c.ports(ctx); err != nil {
		return state, err
	}
	state.Floating, err = c.floating(ctx)
	return state, err
}

func (c *Cloud) servers(ctx context.Context) ([]hypervisor.Server, error) {
	pages, err := servers.List(c.compute, servers.ListOpts{AllTenants: true}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the servers: %w", err)
	}
	listed, err := servers.ExtractServers(pages)
	if err != nil {
		return nil, fmt.Errorf("list the servers: %w", err)
	}
	var found []hypervisor.Server
	for _, server := range listed {
		one := hypervisor.Server{ID: server.ID, Name: server.Name, Status: server.Status}
		one.Image, _ = server.Image["id"].(string)
		if len(server.AttachedVolumes) > 0 {
			one.Volume = server.AttachedVolumes[0].ID
		}
		found = append(found, one)
	}
	return found, nil
}

// networks returns each network with its first subnet of version 4.
func (c *Cloud) networks(ctx context.Context) ([]hypervisor.Network, error) {
	pages, err := subnets.List(c.network, subnets.ListOpts{IPVersion: 4}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the subnets: %w", err)
	}
	listed, err := subnets.ExtractSubnets(pages)
	if err != nil {
		return nil, fmt.Errorf("list the subnets: %w", err)
	}
	var found []hypervisor.Network
	seen := map[string]bool{}
	for _, subnet := range listed {
		prefix, err := netip.ParsePrefix(subnet.CIDR)
		if err != nil {
			return nil, fmt.Errorf("subnet %s: %w", subnet.ID, err)
		}
		if !seen[subnet.NetworkID] {
			gateway, _ := netip.ParseAddr(subnet.GatewayIP) // empty for none
			found = append(found, hypervisor.Network{ID: subnet.NetworkID, Subnet: prefix.Masked(), Gateway: gateway})
		}
		seen[subnet.NetworkID] = true
	}
	return found, nil
}

func (c *Cloud) ports(ctx context.Context) ([]hypervisor.Port, error) {
	pages, err := ports.List(c.network, ports.ListOpts{}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the ports: %w", err)
	}
	listed, err := ports.ExtractPorts(pages)
	if err != nil {
		return nil, fmt.Errorf("list the ports: %w", err)
	}
	var found []hypervisor.Port
	for _, port := range listed {
		one := hypervisor.Port{ID: port.ID, Network: port.NetworkID, Device: port.DeviceID}
		for _, fixed := range port.FixedIPs {
			if address, err := netip.ParseAddr(fixed.IPAddress); err == nil && address.Is4() {
				one.Addresses = append(one.Addresses, address)
			}
		}
		for _, pair := range port.AllowedAddressPairs {
			// a range has no address of its own
			if address, err := netip.ParseAddr(pair.IPAddress); err == nil && address.Is4() {
				one.Shared = append(one.Shared, address)
			}
		}
		found = append(found, one)
	}
	return found, nil
}

func (c *Cloud) floating(ctx context.Context) ([]hypervisor.FloatingIP, error) {
	pages, err := floatingips.List(c.network, floatingips.ListOpts{}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the floating addresses: %w", err)
	}
	listed, err := floatingips.ExtractFloatingIPs(pages)
	if err != nil {
		return nil, fmt.Errorf("list the floating addresses: %w", err)
	}
	var found []hypervisor.FloatingIP
	for _, address := range listed {
		outside, err := netip.ParseAddr(address.FloatingIP)
		inside, inner := netip.ParseAddr(address.FixedIP)
		if err == nil && inner == nil { // else it is not associated
			found = append(found, hypervisor.FloatingIP{Address: outside, Fixed: inside, Port: address.PortID})
		}
	}
	return found, nil
}
