package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// FloatingIP is a floating IP of a project. Its name is its address.
type FloatingIP struct {
	openstack.Resource
	Network string // the ID of its external network
	Port    string // the ID of the port that has it; empty: none
}

// FloatingIPs lists those of the project. An incomplete answer is an error.
func (c Project) FloatingIPs(ctx context.Context) ([]FloatingIP, error) {
	rows, err := readRows[floatingIPRow](ctx, c.Network, "floatingips", "floatingips", c.ofProject())
	if err != nil {
		return nil, err
	}
	var all []FloatingIP
	for _, row := range rows {
		if row.ID == "" || row.Address == "" {
			return nil, fmt.Errorf("listing floatingips: an entry has no ID or no address")
		}
		if row.Project == "" || row.Project == c.ProjectID {
			row.Name = row.Address
			all = append(all, FloatingIP{Resource: row.resource(openstack.KindFloatingIP).Resource,
				Network: row.Network, Port: row.Port})
		}
	}
	return all, nil
}

// ExternalNetworks lists the networks that have floating IPs.
func (c Project) ExternalNetworks(ctx context.Context) ([]openstack.Resource, error) {
	rows, err := read(ctx, c.Network, "networks", "networks", url.Values{"router:external": {"true"}},
		func(r row) entry { return r.resource(openstack.KindNetwork) })
	var all []openstack.Resource
	for _, r := range rows {
		all = append(all, r.Resource)
	}
	return all, err
}

// Port reads one port. The error is openstack.ErrNotFound if the project does not see it.
func (c Project) Port(ctx context.Context, id string) (openstack.Resource, error) {
	page, err := readPage(ctx, c.Network, c.Network.ServiceURL("ports", id))
	if err != nil {
		return openstack.Resource{}, fmt.Errorf("read port %s: %w", id, err)
	}
	var port portRow
	if err := json.Unmarshal(page["port"], &port); err != nil || port.ID != id {
		return openstack.Resource{}, fmt.Errorf("read port %s: the answer cannot be read", id)
	}
	return port.port().Resource, nil
}
