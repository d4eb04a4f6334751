package openstack

import (
	"context"
	"fmt"

	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumes"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
)

// State is the state in Neutron or Cinder of a part of a server.
type State struct {
	Kind, Name, Status string // as the service reports it: port DOWN, volume error
}

// String is "port m-0 is DOWN".
func (s State) String() string { return fmt.Sprintf("%s %s is %s", s.Kind, s.Name, s.Status) }

// PortsOf returns the ports of a server that are not ACTIVE.
func (c *Client) PortsOf(ctx context.Context, server Server) ([]State, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	pages, err := ports.List(c.Network, ports.ListOpts{DeviceID: server.ID}).AllPages(ctx)
	if err != nil {
		return nil, Explain("list the ports of server "+server.Name, err)
	}
	rows, err := ports.ExtractPorts(pages)
	if err != nil {
		return nil, fmt.Errorf("list the ports of server %s: read the answer: %w", server.Name, err)
	}
	var list []State
	for _, row := range rows {
		if row.Status != "ACTIVE" {
			list = append(list, State{"port", row.Name, row.Status})
		}
	}
	return list, nil
}

// VolumesNamed returns the volumes of a name whose status keeps their server from booting. A cloud without volumes has
// none.
func (c *Client) VolumesNamed(ctx context.Context, name string) ([]State, error) {
	if c.BlockStorage == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	pages, err := volumes.List(c.BlockStorage, volumes.ListOpts{Name: name}).AllPages(ctx)
	if err != nil {
		return nil, Explain("list the volumes named "+name, err)
	}
	rows, err := volumes.ExtractVolumes(pages)
	if err != nil {
		return nil, fmt.Errorf("list the volumes named %s: read the answer: %w", name, err)
	}
	var list []State
	for _, row := range rows {
		switch row.Status {
		case "creating", "downloading", "available", "reserved", "attaching", "in-use":
		default:
			list = append(list, State{"volume", row.Name, row.Status})
		}
	}
	return list, nil
}
