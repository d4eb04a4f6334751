package docker

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Network is what inspect says about one network. Which containers are attached to it, it only says of those that run: list Containers by
// their Network instead.
type Network struct {
	ID     string
	Name   string
	Labels map[string]string
}

// Network returns one network by its name; an error that is ErrNotFound when there is none.
func (c *Client) Network(ctx context.Context, name string) (Network, error) {
	out, err := c.output(ctx, "network", "inspect", name)
	if err != nil {
		return Network{}, fmt.Errorf("inspect network %s: %w", name, err)
	}
	var raw []struct {
		ID     string `json:"Id"`
		Name   string
		Labels map[string]string
	}
	if err := json.Unmarshal([]byte(out), &raw); err != nil || len(raw) == 0 {
		return Network{}, fault.Wrap(fmt.Errorf("inspect network %s: unexpected answer of %d objects: %v",
			name, len(raw), err), fault.DockerFailed, "")
	}
	n := raw[0]
	return Network{ID: n.ID, Name: n.Name, Labels: n.Labels}, nil
}

// CreateKindNetwork creates a network with the properties that kind gives its own (a masquerading bridge with the
// engine's MTU, and IPv6 where the engine has it), so that kind takes it as it is. Rule from kind v0.33.0,
// pkg/cluster/internal/providers/docker/network.go. One that exists already is left alone.
func (c *Client) CreateKindNetwork(ctx context.Context, name string, labels map[string]string) error {
	if _, err := c.Network(ctx, name); !isNotFound(err) {
		return err
	}
	base := []string{"network", "create", "--driver=bridge", "-o", "com.docker.network.bridge.enable_ip_masquerade=true"}
	if mtu := c.defaultMTU(ctx); mtu != "" {
		base = append(base, "-o", "com.docker.network.driver.mtu="+mtu)
	}
	base = append(base, labelArgs(labels)...)

	var err error
	for attempt := range 5 {
		_, err = c.output(ctx, append(base, "--ipv6", "--subnet", ulaSubnet(name, attempt), name)...)
		if err == nil || strings.Contains(err.Error(), "already exists") {
			return nil
		}
		if ipv6Unavailable(err) {
			_, err = c.output(ctx, append(base, name)...)
			break
		}
		if !strings.Contains(strings.ToLower(err.Error()), "overlap") {
			break
		}
	}
	if err != nil && !strings.Contains(err.Error(), "already exists") {
		return fmt.Errorf("create network %s: %w", name, err)
	}
	return nil
}

// RemoveNetwork removes a network; one that is gone already is no error.
func (c *Client) RemoveNetwork(ctx context.Context, name string) error {
	if _, err := c.output(ctx, "network", "rm", name); err != nil && !isNotFound(err) {
		return fmt.Errorf("remove network %s: %w", name, err)
	}
	return nil
}

// defaultMTU is the MTU of the engine's default bridge, "" when it says none.
func (c *Client) defaultMTU(ctx context.Context) string {
	out, err := c.output(ctx, "network", "inspect", "bridge", "--format",
		`{{ index .Options "com.docker.network.driver.mtu" }}`)
	if err != nil {
		return ""
	}
	return out
}

// ulaSubnet picks a /64 of the unique local IPv6 range that stays the same for a name.
func ulaSubnet(name string, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "cluster-init/%s/%d", name, attempt))
	var ip [16]byte
	ip[0] = 0xfd
	copy(ip[1:8], sum[:7])
	return netip.PrefixFrom(netip.AddrFrom16(ip), 64).String()
}

// ipv6Unavailable knows the engine's words for a host whose kernel has no IPv6.
func ipv6Unavailable(err error) bool {
	return containsAny(strings.ToLower(err.Error()), "could not find an available, non-overlapping ipv6",
		"cannot read ipv6 setup for bridge", "ipv6 is disabled", "ip6tables", "address family not supported")
}
