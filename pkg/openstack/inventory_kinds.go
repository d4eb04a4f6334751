package openstack

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
)

// novaVersion is the first that shows tags of servers; it also shows which volumes go with them.
const novaVersion = "2.26"

func (c *Client) nova() *gophercloud.ServiceClient {
	versioned := *c.Compute
	versioned.Microversion = novaVersion
	return &versioned
}

// ofProject keeps what an administrator sees of other projects out.
func (c *Client) ofProject() url.Values { return url.Values{"project_id": {c.ProjectID}} }

func (c *Client) servers(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.nova(), "servers/detail", "servers", nil, func(s serverRow) Resource {
		s.row.Created, s.Project = s.Created, s.Tenant
		r := s.resource(KindServer)
		r.Properties = s.Metadata
		for _, v := range s.Volumes {
			r.Uses = append(r.Uses, Ref{KindVolume, v.ID})
			if v.DeleteOnTermination {
				r.takes = append(r.takes, Ref{KindVolume, v.ID})
			}
		}
		return r
	})
}

func (c *Client) serverGroups(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.nova(), "os-server-groups", "server_groups", nil, func(g serverGroupRow) Resource {
		r := g.resource(KindServerGroup)
		for _, server := range g.Members {
			r.usedBy = append(r.usedBy, Ref{KindServer, server})
		}
		return r
	})
}

func (c *Client) volumes(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.BlockStorage, "volumes/detail", "volumes", nil, func(v volumeRow) Resource {
		v.Project = v.Tenant
		r := v.resource(KindVolume)
		r.Properties = v.Metadata
		for _, a := range v.Attachments {
			r.usedBy = append(r.usedBy, Ref{KindServer, a.Server})
		}
		return r
	})
}

func (c *Client) snapshots(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.BlockStorage, "snapshots/detail", "snapshots", nil, func(s snapshotRow) Resource {
		s.row.Project = s.Project
		r := s.resource(KindSnapshot)
		r.Properties, r.Uses = s.Metadata, []Ref{{KindVolume, s.Volume}}
		return r
	})
}

func (c *Client) loadBalancers(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.LoadBalancer, "lbaas/loadbalancers", "loadbalancers", c.ofProject(), func(l loadBalancerRow) Resource {
		l.row.Status = l.Status
		r := l.resource(KindLoadBalancer)
		r.Uses = []Ref{{KindPort, l.Port}}
		return r
	})
}

func (c *Client) floatingIPs(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.Network, "floatingips", "floatingips", c.ofProject(), func(f floatingIPRow) Resource {
		f.Name = f.Address
		r := f.resource(KindFloatingIP)
		if f.Port != "" {
			r.Uses, r.router = []Ref{{KindPort, f.Port}}, f.Router
		}
		return r
	})
}

func (c *Client) routers(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.Network, "routers", "routers", c.ofProject(), func(r row) Resource { return r.resource(KindRouter) })
}

func (c *Client) networks(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.Network, "networks", "networks", c.ofProject(), func(r row) Resource { return r.resource(KindNetwork) })
}

func (c *Client) subnets(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.Network, "subnets", "subnets", c.ofProject(), func(s subnetRow) Resource {
		r := s.resource(KindSubnet)
		r.Uses = []Ref{{KindNetwork, s.Network}}
		return r
	})
}

func (c *Client) securityGroups(ctx context.Context) ([]Resource, error) {
	return read(ctx, c.Network, "security-groups", "security_groups", c.ofProject(), func(g securityGroupRow) Resource {
		r := g.resource(KindSecurityGroup)
		for _, rule := range g.Rules {
			if remote := (Ref{KindSecurityGroup, rule.Remote}); rule.Remote != "" && rule.Remote != g.ID && !slices.Contains(r.Uses, remote) {
				r.Uses = append(r.Uses, remote)
			}
		}
		return r
	})
}

// ports reads the project's ports, and those of anybody on the project's networks: a network that is shared with another
// project cannot go while that one has a port on it.
func (c *Client) ports(ctx context.Context) ([]Resource, error) {
	rows, err := readRows[portRow](ctx, c.Network, "ports", "ports", c.ofProject())
	if err != nil {
		return nil, err
	}
	networks, err := readRows[row](ctx, c.Network, "networks", "networks", url.Values{"project_id": {c.ProjectID}, "fields": {"id"}})
	if err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(networks, 40) { // an address must not get too long
		query := url.Values{}
		for _, n := range chunk {
			query.Add("network_id", n.ID)
		}
		more, err := readRows[portRow](ctx, c.Network, "ports", "ports", query)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	slices.SortFunc(rows, func(a, b portRow) int { return strings.Compare(a.ID, b.ID) })
	rows = slices.CompactFunc(rows, func(a, b portRow) bool { return a.ID == b.ID })
	var resources []Resource
	for _, p := range rows {
		if !p.ofNeutron() {
			resources = append(resources, p.port())
		}
	}
	return resources, nil
}
