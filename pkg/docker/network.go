package docker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Network is what is read of a network. The engine lists only the running containers with it: see ContainersIn.
type Network struct {
	ID     string
	Name   string
	Labels map[string]string
	// Subnets are those that the engine assigns addresses of.
	Subnets []netip.Prefix
	// Attached are the names of the running containers, by their addresses.
	Attached map[netip.Addr]string
}

// Networks returns the networks of a name, in the order of their IDs. The engine allows two of one name if they are
// created at the same moment, and from then on refuses every command with that name: only their IDs distinguish them.
func (c *Client) Networks(ctx context.Context, name string) ([]Network, error) {
	ids, err := c.lines(ctx, "network", "ls", "--no-trunc", "--filter", "name=^"+regexp.QuoteMeta(name)+"$", "--format",
		"{{.ID}}")
	if err != nil {
		return nil, fmt.Errorf("list networks called %s: %w", name, err)
	}
	slices.Sort(ids)
	var networks []Network
	for _, id := range ids {
		n, err := c.network(ctx, id)
		switch {
		case isNotFound(err): // it was removed in the meantime
		case err != nil:
			return nil, err
		case n.Name == name:
			networks = append(networks, n)
		}
	}
	return networks, nil
}

func (c *Client) network(ctx context.Context, id string) (Network, error) {
	out, err := c.output(ctx, "network", "inspect", id)
	if err != nil {
		return Network{}, fmt.Errorf("inspect network %s: %w", id, err)
	}
	n, err := decodeSingle[rawNetwork](out)
	if err != nil {
		return Network{}, fmt.Errorf("inspect network %s: %w", id, err)
	}
	return n.network(), nil
}

// rawNetwork is the part of `docker network inspect` that is read.
type rawNetwork struct {
	ID     string `json:"Id"`
	Name   string
	Labels map[string]string
	IPAM   struct {
		Config []struct{ Subnet string }
	}
	Containers map[string]struct{ Name, IPv4Address, IPv6Address string }
}

func (r rawNetwork) network() Network {
	n := Network{ID: r.ID, Name: r.Name, Labels: r.Labels, Attached: map[netip.Addr]string{}}
	for _, c := range r.IPAM.Config {
		if subnet, err := netip.ParsePrefix(c.Subnet); err == nil {
			n.Subnets = append(n.Subnets, subnet)
		}
	}
	for _, c := range r.Containers {
		for _, address := range []string{c.IPv4Address, c.IPv6Address} {
			if parsed, err := netip.ParsePrefix(address); err == nil {
				n.Attached[parsed.Addr()] = c.Name
			}
		}
	}
	return n
}

// ContainersIn lists the names of the containers of one network, including stopped ones. A container that was never
// started knows its network by name only: it counts for each network of that name.
func (c *Client) ContainersIn(ctx context.Context, n Network) ([]string, error) {
	names, err := c.Containers(ctx, Filter{Network: n.ID})
	if err != nil {
		return nil, err
	}
	byName, err := c.Containers(ctx, Filter{Network: n.Name})
	if err != nil {
		return nil, err
	}
	for _, name := range byName {
		if slices.Contains(names, name) {
			continue
		}
		container, err := c.Inspect(ctx, name)
		if isNotFound(err) { // it was removed in the meantime
			continue
		}
		if err != nil {
			return nil, err
		}
		if container.Networks[n.Name].NetworkID == "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// CreateKindNetwork creates a network with the properties of kind's own (a masquerading bridge with the engine's MTU,
// and IPv6 if the engine supports it), so that kind accepts it. Rule from kind v0.33.0,
// pkg/cluster/internal/providers/docker/network.go. It leaves an existing network alone. Of several with this name,
// which two runs create at the same moment, it keeps one. It fails if containers are in more than one.
func (c *Client) CreateKindNetwork(ctx context.Context, name string, labels map[string]string) error {
	if found, err := c.oneNetwork(ctx, name); found || err != nil {
		return err
	}
	if err := c.createNetwork(ctx, name, labels); err != nil {
		return fmt.Errorf("create network %s: %w", name, err)
	}
	_, err := c.oneNetwork(ctx, name) // another process may have created one between the two checks
	return err
}

func (c *Client) createNetwork(ctx context.Context, name string, labels map[string]string) error {
	base := []string{"network", "create", "--driver=bridge", "-o",
		"com.docker.network.bridge.enable_ip_masquerade=true"}
	if mtu := c.defaultMTU(ctx); mtu != "" {
		base = append(base, "-o", "com.docker.network.driver.mtu="+mtu)
	}
	base = append(base, labelArgs(labels)...)

	var err error
	for attempt := range 5 {
		_, err = c.output(ctx, append(slices.Clip(base), "--ipv6", "--subnet", ulaSubnet(name, attempt), name)...)
		if err == nil || strings.Contains(err.Error(), "already exists") {
			return nil
		}
		if ipv6Unavailable(err) {
			_, err = c.output(ctx, append(slices.Clip(base), name)...)
			break
		}
		if !strings.Contains(strings.ToLower(err.Error()), "overlap") {
			break
		}
		networks, listErr := c.Networks(ctx, name)
		if listErr != nil || len(networks) > 0 { // another run was faster, with the same subnet
			return listErr
		}
	}
	if err != nil && strings.Contains(err.Error(), "already exists") {
		return nil
	}
	return err
}

// RemoveNetwork removes a network, by ID or by a unique name. A missing one is no error.
func (c *Client) RemoveNetwork(ctx context.Context, name string) error {
	if _, err := c.output(ctx, "network", "rm", name); err != nil && !isNotFound(err) {
		return fmt.Errorf("remove network %s: %w", name, err)
	}
	return nil
}

// defaultMTU returns the MTU of the engine's default bridge, or "".
func (c *Client) defaultMTU(ctx context.Context) string {
	out, err := c.output(ctx, "network", "inspect", "bridge", "--format",
		`{{ index .Options "com.docker.network.driver.mtu" }}`)
	if err != nil {
		return ""
	}
	return out
}

// ulaSubnet picks a /64 of the unique local IPv6 range, always the same for a name and an attempt.
func ulaSubnet(name string, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "cluster-init/%s/%d", name, attempt))
	var ip [16]byte
	ip[0] = 0xfd
	copy(ip[1:8], sum[:7])
	return netip.PrefixFrom(netip.AddrFrom16(ip), 64).String()
}

// ipv6Unavailable recognizes the errors of an engine that cannot create IPv6 networks, as without IPv6 in the kernel.
func ipv6Unavailable(err error) bool {
	return containsAny(strings.ToLower(err.Error()), "could not find an available, non-overlapping ipv6",
		"cannot read ipv6 setup for bridge", "ipv6 is disabled", "ip6tables", "address family not supported")
}
