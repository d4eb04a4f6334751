package inventory

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// novaVersion is the first that shows the tags of servers. It also shows which volumes are deleted with their server.
const novaVersion = "2.26"

func (c Project) nova() *gophercloud.ServiceClient {
	versioned := *c.Compute
	versioned.Microversion = novaVersion
	return &versioned
}

// ofProject excludes what an administrator sees of other projects.
func (c Project) ofProject() url.Values { return url.Values{"project_id": {c.ProjectID}} }

func (c Project) servers(ctx context.Context) ([]entry, error) {
	return read(ctx, c.nova(), "servers/detail", "servers", nil, func(s serverRow) entry {
		s.row.Created, s.Project = s.Created, s.Tenant
		r := s.resource(openstack.KindServer)
		r.Properties = s.Metadata
		for _, v := range s.Volumes {
			r.Uses = append(r.Uses, openstack.Ref{Kind: openstack.KindVolume, ID: v.ID})
			if v.DeleteOnTermination {
				r.takes = append(r.takes, openstack.Ref{Kind: openstack.KindVolume, ID: v.ID})
			}
		}
		return r
	})
}

func (c Project) serverGroups(ctx context.Context) ([]entry, error) {
	return read(ctx, c.nova(), "os-server-groups", "server_groups", nil, func(g serverGroupRow) entry {
		r := g.resource(openstack.KindServerGroup)
		for _, server := range g.Members {
			r.usedBy = append(r.usedBy, openstack.Ref{Kind: openstack.KindServer, ID: server})
		}
		return r
	})
}

func (c Project) volumes(ctx context.Context) ([]entry, error) {
	return read(ctx, c.BlockStorage, "volumes/detail", "volumes", nil, func(v volumeRow) entry {
		v.Project = v.Tenant
		r := v.resource(openstack.KindVolume)
		r.Properties = v.Metadata
		for _, a := range v.Attachments {
			r.usedBy = append(r.usedBy, openstack.Ref{Kind: openstack.KindServer, ID: a.Server})
		}
		return r
	})
}

func (c Project) snapshots(ctx context.Context) ([]entry, error) {
	return read(ctx, c.BlockStorage, "snapshots/detail", "snapshots", nil, func(s snapshotRow) entry {
		s.row.Project = s.Project
		r := s.resource(openstack.KindSnapshot)
		r.Properties, r.Uses = s.Metadata, []openstack.Ref{{Kind: openstack.KindVolume, ID: s.Volume}}
		return r
	})
}

func (c Project) loadBalancers(ctx context.Context) ([]entry, error) {
	return read(ctx, c.LoadBalancer, "lbaas/loadbalancers", "loadbalancers", c.ofProject(),
		func(l loadBalancerRow) entry {
			l.row.Status = l.Status
			r := l.resource(openstack.KindLoadBalancer)
			r.Uses = []openstack.Ref{{Kind: openstack.KindPort, ID: l.Port}}
			return r
		})
}

func (c Project) floatingIPs(ctx context.Context) ([]entry, error) {
	return read(ctx, c.Network, "floatingips", "floatingips", c.ofProject(), func(f floatingIPRow) entry {
		f.Name = f.Address
		r := f.resource(openstack.KindFloatingIP)
		if f.Port != "" {
			r.Uses, r.router = []openstack.Ref{{Kind: openstack.KindPort, ID: f.Port}}, f.Router
		}
		return r
	})
}

func (c Project) routers(ctx context.Context) ([]entry, error) {
	return read(ctx, c.Network, "routers", "routers", c.ofProject(),
		func(r row) entry { return r.resource(openstack.KindRouter) })
}

func (c Project) networks(ctx context.Context) ([]entry, error) {
	return read(ctx, c.Network, "networks", "networks", c.ofProject(),
		func(r row) entry { return r.resource(openstack.KindNetwork) })
}

func (c Project) subnets(ctx context.Context) ([]entry, error) {
	return read(ctx, c.Network, "subnets", "subnets", c.ofProject(), func(s subnetRow) entry {
		r := s.resource(openstack.KindSubnet)
		r.Uses = []openstack.Ref{{Kind: openstack.KindNetwork, ID: s.Network}}
		return r
	})
}

func (c Project) securityGroups(ctx context.Context) ([]entry, error) {
	return read(ctx, c.Network, "security-groups", "security_groups", c.ofProject(), func(g securityGroupRow) entry {
		r := g.resource(openstack.KindSecurityGroup)
		for _, rule := range g.Rules {
			if remote := (openstack.Ref{Kind: openstack.KindSecurityGroup, ID: rule.Remote}); rule.Remote != "" &&
				rule.Remote != g.ID && !slices.Contains(r.Uses, remote) {
				r.Uses = append(r.Uses, remote)
			}
		}
		return r
	})
}

// ports reads the project's ports, and those of other owners on the project's networks: a shared network cannot be
// deleted while another project has a port on it.
func (c Project) ports(ctx context.Context) ([]entry, error) {
	rows, err := readRows[portRow](ctx, c.Network, "ports", "ports", c.ofProject())
	if err != nil {
		return nil, err
	}
	networks, err := readRows[row](ctx, c.Network, "networks", "networks",
		url.Values{"project_id": {c.ProjectID}, "fields": {"id"}})
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
	var resources []entry
	for _, p := range rows {
		if !p.ofNeutron() {
			resources = append(resources, p.port())
		}
	}
	return resources, nil
}
