package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
)

// networkName is the docker network that stands for a neutron network.
func networkName(id string) string { return "openstack-" + id }

// bridgePrefix begins the names of all bridges of such networks on this machine.
const bridgePrefix = "os-"

// bridgeName is the network's bridge on this machine; the kernel takes 15 characters.
func bridgeName(id string) string {
	return fmt.Sprintf("%s%.12s", bridgePrefix, strings.ReplaceAll(id, "-", ""))
}

// attached is the part of `docker network inspect` that is read.
type attached struct {
	Labels     map[string]string
	IPAM       struct{ Config []struct{ Subnet string } }
	Containers map[string]struct{ Name, IPv4Address string }
}

func inspectNetwork(ctx context.Context, id string) (attached, error) {
	out, err := docker(ctx, "network", "inspect", networkName(id))
	if err != nil {
		return attached{}, err
	}
	var all []attached
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return attached{}, fmt.Errorf("read what docker says of network %s: %w", networkName(id), err)
	}
	if len(all) != 1 {
		return attached{}, fmt.Errorf("read what docker says of network %s: %d answers", networkName(id), len(all))
	}
	return all[0], nil
}

// MakeNetwork makes the docker network, unless it is there.
func (e Engine) MakeNetwork(ctx context.Context, network hypervisor.Network) error {
	gateway := network.Gateway
	if !gateway.IsValid() { // docker wants one: the last address, which neutron gives away last
		gateway = lastAddress(network.Subnet)
	}
	_, err := docker(ctx, "network", "create", "--driver", "bridge",
		"--subnet", network.Subnet.String(), "--gateway", gateway.String(),
		"--label", cloudLabel+"="+e.Cloud, "--label", networkLabel+"="+network.ID,
		"-o", "com.docker.network.bridge.name="+bridgeName(network.ID), networkName(network.ID))
	if err != nil && strings.Contains(err.Error(), "already exists") {
		return nil
	}
	return err
}

// RemoveNetwork disconnects the registries and removes the network. A machine in it keeps it.
func (e Engine) RemoveNetwork(ctx context.Context, id string) error {
	network, err := inspectNetwork(ctx, id)
	if err != nil {
		return err
	}
	for container, place := range network.Containers {
		if isRegistry(place.Name) {
			if _, err := docker(ctx, "network", "disconnect", "--force", networkName(id), container); err != nil {
				return err
			}
		}
	}
	_, err = docker(ctx, "network", "rm", networkName(id))
	return err
}

// lastAddress is the highest address of a subnet but the broadcast address.
func lastAddress(subnet netip.Prefix) netip.Addr {
	bytes := subnet.Masked().Addr().As4()
	for bit := subnet.Bits(); bit < 32; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(bytes).Prev()
}
