package openstack

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

const (
	ourTag      = "cluster-init:cluster=ns-demo"
	ours        = "Created by cluster-init for the API server of cluster ns-demo"
	providers   = "Created by cluster-api-provider-openstack cluster ns-demo"
	otherOurs   = "Created by cluster-init for the API server of cluster ns-demo-2"
	outside     = "net-1"
	anotherSide = "net-2"
)

// neutron is a project in memory.
type neutron struct {
	ips   []inventory.FloatingIP
	ports map[string]cloud.Resource
	fails map[string]error // by request
	// concurrent, if set, is what another run makes while this one does.
	concurrent *inventory.FloatingIP
	has        cloud.Inventory
	noID       bool // the answer to the creation has no ID
	asked      []string
}

func (n *neutron) ask(request string) error {
	n.asked = append(n.asked, request)
	return n.fails[strings.Fields(request)[0]]
}

func (n *neutron) FloatingIPs(context.Context) ([]inventory.FloatingIP, error) {
	return slices.Clone(n.ips), n.ask("list")
}

func (n *neutron) ExternalNetworks(context.Context) ([]cloud.Resource, error) {
	return []cloud.Resource{{Ref: cloud.Ref{ID: outside}, Name: "public"}, {Ref: cloud.Ref{ID: anotherSide},
		Name: "twin"},
		{Ref: cloud.Ref{ID: "net-3"}, Name: "twin"}}, n.ask("networks")
}

func (n *neutron) Port(_ context.Context, id string) (cloud.Resource, error) {
	if err := n.ask("port " + id); err != nil {
		return cloud.Resource{}, err
	}
	port, there := n.ports[id]
	if !there {
		return cloud.Resource{}, cloud.ErrNotFound
	}
	return port, nil
}

func (n *neutron) MakeFloatingIP(_ context.Context, network, description string) (string, error) {
	if err := n.ask("make " + network + " " + description); err != nil {
		return "", err
	}
	n.ips = append(n.ips, ip("made", 9, at(network), described(description)))
	if n.concurrent != nil {
		n.ips = append(n.ips, *n.concurrent)
	}
	if n.noID {
		return "", nil
	}
	return "made", nil
}

func (n *neutron) Tag(_ context.Context, r cloud.Resource, tag string) error {
	for i := range n.ips {
		if n.ips[i].ID == r.ID {
			n.ips[i].Tags = append(n.ips[i].Tags, tag)
		}
	}
	return n.ask("tag " + r.ID)
}

func (n *neutron) Delete(_ context.Context, r cloud.Resource) (bool, error) {
	if err := n.ask("delete " + r.ID); err != nil {
		return false, err
	}
	n.ips = slices.DeleteFunc(n.ips, func(ip inventory.FloatingIP) bool { return ip.ID == r.ID })
	return true, nil
}

func (n *neutron) Associate(_ context.Context, floatingIP, port cloud.Resource) error {
	return n.ask("associate " + floatingIP.ID + " " + port.ID)
}

func (n *neutron) Inventory(context.Context) (cloud.Inventory, error) {
	return n.has, n.ask("inventory")
}

// connected returns what logs in to the project.
func connected(n *neutron) func(context.Context) (project, error) {
	return func(context.Context) (project, error) { return n, nil }
}

func (n *neutron) ids() string {
	var ids []string
	for _, ip := range n.ips {
		ids = append(ids, ip.ID)
	}
	return strings.Join(ids, " ")
}

// ip is a floating IP in the external network, made at that minute. Its address follows the minute.
func ip(id string, minute int, with ...func(*inventory.FloatingIP)) inventory.FloatingIP {
	made := inventory.FloatingIP{Resource: cloud.Resource{Ref: cloud.Ref{Kind: cloud.KindFloatingIP, ID: id},
		Name: fmt.Sprintf("203.0.113.%d", minute), Status: "DOWN",
		Created: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}, Network: outside}
	for _, change := range with {
		change(&made)
	}
	return made
}

func described(text string) func(*inventory.FloatingIP) {
	return func(ip *inventory.FloatingIP) { ip.Description = text }
}

func tagged(ip *inventory.FloatingIP) { ip.Tags = append(ip.Tags, ourTag) }

func at(network string) func(*inventory.FloatingIP) {
	return func(ip *inventory.FloatingIP) { ip.Network = network }
}

func held(port string) func(*inventory.FloatingIP) {
	return func(ip *inventory.FloatingIP) { ip.Port = port }
}

func broken(ip *inventory.FloatingIP) { ip.Status = "ERROR" }

func addressesIn(n *neutron, given string) addresses {
	return addresses{project: n, network: "public", given: given, cluster: leftovers.Cluster{Namespace: "ns",
		Name: "demo"}}
}

// ourPorts are those of the cluster's machines, with their tag or, in a user's own definition, without.
func ourPorts() map[string]cloud.Resource {
	return map[string]cloud.Resource{"cp": {Tags: []string{ourTag}},
		"untagged": {Description: "Created by cluster-api-provider-openstack cluster demo"},
		"strange":  {Description: "web"}, "other": {Tags: []string{"cluster-init:cluster=ns-demo-2"}}}
}
