package inventory_test

import (
	"errors"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
)

const (
	askFloating = "GET /network/floatingips?project_id=p"
	askExternal = "GET /network/networks?router%3Aexternal=true"
)

func TestFloatingIPsOfTheProject(t *testing.T) {
	p := inventory.Project{Client: standin.Memory{
		askFloating: `{"floatingips": [{"id": "f1", "floating_ip_address": "203.0.113.5", "floating_network_id": "n", "port_id": "p1",
			"project_id": "p", "tags": ["mine"], "description": "d", "status": "ACTIVE"},
			{"id": "f2", "floating_ip_address": "203.0.113.6", "port_id": null, "project_id": "another"}]}`,
		askExternal:             `{"networks": [{"id": "n", "name": "public"}]}`,
		"GET /network/ports/p1": `{"port": {"id": "p1", "tags": ["mine"], "description": "of a machine"}}`,
		"GET /network/ports/p2": `{"port": {}}`,
	}.Client()}
	ips, err := p.FloatingIPs(t.Context())
	if err != nil || len(ips) != 1 || ips[0].Name != "203.0.113.5" || ips[0].Network != "n" || ips[0].Port != "p1" ||
		ips[0].Tags[0] != "mine" || ips[0].Description != "d" || ips[0].Status != "ACTIVE" {
		t.Errorf("%+v, %v", ips, err)
	}
	networks, err := p.ExternalNetworks(t.Context())
	if err != nil || len(networks) != 1 || networks[0].ID != "n" || networks[0].Name != "public" {
		t.Errorf("%+v, %v", networks, err)
	}
	port, err := p.Port(t.Context(), "p1")
	if err != nil || port.Tags[0] != "mine" || port.Description != "of a machine" {
		t.Errorf("%+v, %v", port, err)
	}
	if _, err := p.Port(t.Context(), "p2"); err == nil || errors.Is(err, openstack.ErrNotFound) {
		t.Errorf("half a reply: %v", err)
	}
	if _, err := p.Port(t.Context(), "p3"); !errors.Is(err, openstack.ErrNotFound) {
		t.Errorf("a port that is hidden: %v", err)
	}
}

// An error is not an empty list: a second address would be made.
func TestHalfAListOfFloatingIPsIsNone(t *testing.T) {
	for name, answer := range map[string]string{
		"no list": `{}`, "no ID": `{"floatingips": [{"floating_ip_address": "203.0.113.5"}]}`,
		"no address": `{"floatingips": [{"id": "f1"}]}`, "text": `<html>`, "forbidden": `403 {}`,
	} {
		p := inventory.Project{Client: standin.Memory{askFloating: answer}.Client()}
		if ips, err := p.FloatingIPs(t.Context()); err == nil {
			t.Errorf("%s: %v", name, ips)
		}
	}
}
