package inventory_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
)

const (
	askNetworks = "GET /network/networks"
	askSubnets  = "GET /network/subnets?network_id=n1"
	askPortsAt  = "GET /network/ports?fixed_ips=ip_address%3D10.0.0.9&network_id=n1"
	askOwnPorts = "GET /network/ports?project_id=p"
)

// What the project can use is listed, and what a cloud returns besides, because it does not know a filter, is left out.
func TestWhereAnAddressIs(t *testing.T) {
	const ports = `{"ports": [
		{"id": "p1", "project_id": "p", "network_id": "n1", "description": "d", "tags": ["mine"], "device_id": "", "device_owner": "",
			"fixed_ips": [{"subnet_id": "s1", "ip_address": "10.0.0.9"}, {"subnet_id": "s2", "ip_address": "10.0.1.9"}],
			"allowed_address_pairs": [{"ip_address": "10.0.0.200", "mac_address": "02:00:00:00:00:01"}]},
		{"id": "p2", "project_id": "p", "network_id": "n1", "fixed_ips": [{"subnet_id": "s1", "ip_address": "10.0.0.90"}]},
		{"id": "p3", "project_id": "p", "network_id": "n2", "fixed_ips": [{"subnet_id": "s9", "ip_address": "10.0.0.9"}]},
		{"id": "p4", "project_id": "another", "network_id": "n1", "device_id": "s7", "device_owner": "compute:nova",
			"fixed_ips": [{"subnet_id": "s1", "ip_address": "10.0.0.9"}]}]}`
	p := inventory.Project{Client: standin.Memory{
		askNetworks: `{"networks": [{"id": "n1", "name": "machines", "project_id": "p"}, {"id": "n2", "project_id": "another"},
			{"id": "n3", "name": "common", "project_id": "another", "shared": true}]}`,
		askSubnets: `{"subnets": [{"id": "s1", "name": "one", "network_id": "n1", "cidr": "10.0.0.0/24", "gateway_ip": "10.0.0.1"},
			{"id": "s2", "network_id": "n1", "cidr": "10.0.1.0/24", "gateway_ip": null},
			{"id": "s3", "network_id": "n2", "cidr": "10.0.2.0/24"}]}`,
		askPortsAt: ports, askOwnPorts: ports,
	}.Client()}
	networks, err := p.Networks(t.Context())
	if err != nil || len(networks) != 2 || networks[0].Name != "machines" || networks[1].ID != "n3" {
		t.Errorf("%+v, %v", networks, err)
	}
	subnets, err := p.Subnets(t.Context(), "n1")
	if err != nil || len(subnets) != 2 || subnets[0].Name != "one" || subnets[0].CIDR != "10.0.0.0/24" ||
		subnets[0].Gateway != "10.0.0.1" || subnets[1].Gateway != "" {
		t.Errorf("%+v, %v", subnets, err)
	}
	ids := func(ports []inventory.Port) (ids []string) {
		for _, port := range ports {
			ids = append(ids, port.ID)
		}
		return ids
	}
	at, err := p.PortsAt(t.Context(), "n1", "10.0.0.9")
	if err != nil || !slices.Equal(ids(at), []string{"p1", "p4"}) {
		t.Fatalf("%+v, %v", at, err)
	}
	if one, other := at[0], at[1]; one.Kind != openstack.KindPort || one.Description != "d" || one.Tags[0] != "mine" ||
		one.Device != "" || !slices.Equal(one.Pairs, []string{"10.0.0.200"}) ||
		!slices.Equal(one.Addresses, []string{"10.0.0.9", "10.0.1.9"}) ||
		other.Device != "s7" || other.Owner != "compute:nova" || other.Project != "another" {
		t.Errorf("%+v", at)
	}
	own, err := p.OwnPorts(t.Context())
	if err != nil || !slices.Equal(ids(own), []string{"p1", "p2", "p3"}) {
		t.Errorf("%+v, %v", own, err)
	}
}

// An error, or half a list, is not an empty list: an address would be taken for free.
func TestHalfAListOfPortsIsNone(t *testing.T) {
	for name, answer := range map[string]string{
		"no list": `{}`, "no ID": `{"ports": [{"network_id": "n1"}], "networks": [{}], "subnets": [{"cidr": "10.0.0.0/24"}]}`,
		"no network": `{"ports": [{"id": "p1"}], "networks": [{"name": "n"}], "subnets": [{"id": "s1"}]}`,
		"forbidden":  `403 {}`,
	} {
		p := inventory.Project{Client: standin.Memory{askNetworks: answer, askSubnets: answer, askPortsAt: answer,
			askOwnPorts: answer}.Client()}
		_, networks := p.Networks(t.Context())
		_, subnets := p.Subnets(t.Context(), "n1")
		_, ports := p.PortsAt(t.Context(), "n1", "10.0.0.9")
		_, own := p.OwnPorts(t.Context())
		for what, err := range map[string]error{"networks": networks, "subnets": subnets, "ports": ports, "own": own} {
			if err == nil || errors.Is(err, openstack.ErrNotFound) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}
