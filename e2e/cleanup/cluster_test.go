//go:build openstack

package cleanup

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

const namespace = "management"

// cluster is what the provider for OpenStack (v0.14.7), the cloud controller manager and the CSI driver (v1.36.0) make
// for a cluster, by their names, tags, descriptions and properties.
type cluster struct {
	*project
	name, resourceName string
	network, subnet    string
	router             string
	groups             []string
}

func (c *cluster) tags() []string { return []string{owned.Tag(c.resourceName)} }
func (c *cluster) description() string {
	return "Created by cluster-api-provider-openstack cluster " + c.resourceName
}

// tag sets the tags of a resource of Neutron, which has no tags when it is made.
func (c *cluster) tag(t *testing.T, collection, id string) {
	t.Helper()
	c.call(t, c.Network, "PUT", collection+"/"+id+"/tags", obj{"tags": c.tags()})
}

// newCluster makes a cluster of some machines, every second one with a root volume.
func (p *project) newCluster(t *testing.T, name string, subnet byte, machines int) *cluster {
	t.Helper()
	c := &cluster{project: p, name: name, resourceName: namespace + "-" + name}
	called := "k8s-clusterapi-cluster-" + c.resourceName
	c.network = p.call(t, p.Network, "POST", "networks", obj{"network": obj{"name": called}}).id("network")
	c.tag(t, "networks", c.network)
	c.subnet = p.call(t, p.Network, "POST", "subnets",
		obj{"subnet": obj{"name": called, "description": c.description(), "network_id": c.network, "ip_version": 4,
			"cidr": fmt.Sprintf("10.6.%d.0/24", subnet)}}).id("subnet")
	c.tag(t, "subnets", c.subnet)
	c.router = p.call(t, p.Network, "POST", "routers",
		obj{"router": obj{"name": called, "description": c.description(),
			"external_gateway_info": obj{"network_id": p.external}}}).id("router")
	c.tag(t, "routers", c.router)
	p.call(t, p.Network, "PUT", "routers/"+c.router+"/add_router_interface", obj{"subnet_id": c.subnet})
	c.securityGroups(t)
	for _, of := range []string{"control-plane", "workers"} {
		p.call(t, p.Compute, "POST", "os-server-groups",
			obj{"server_group": obj{"name": c.resourceName + "-" + of, "policies": []string{"anti-affinity"}}})
	}
	var servers []string
	for i := range machines {
		server, port := c.machine(t, fmt.Sprintf("%s-md-0-%05d", name, i), i%2 == 0)
		servers = append(servers, server)
		if i == 0 {
			c.floatingIP(t, port)
		}
	}
	c.leftovers(t)
	for _, id := range servers {
		p.awaits(t, p.Compute, "servers/"+id, "server", "ACTIVE")
	}
	return c
}

func (c *cluster) securityGroups(t *testing.T) {
	t.Helper()
	for _, of := range []string{"controlplane", "worker"} {
		id := c.call(t, c.Network, "POST", "security-groups",
			obj{"security_group": obj{"name": "k8s-cluster-" + c.resourceName + "-secgroup-" + of,
				"description": "Cluster API managed group"}}).id("security_group")
		c.tag(t, "security-groups", id)
		c.groups = append(c.groups, id)
	}
	for i, id := range c.groups { // each lets the other one in
		c.call(t, c.Network, "POST", "security-group-rules",
			obj{"security_group_rule": obj{"security_group_id": id, "remote_group_id": c.groups[1-i],
				"direction": "ingress", "ethertype": "IPv4"}})
	}
}

func (c *cluster) port(t *testing.T, name string, tagged bool) string {
	t.Helper()
	id := c.call(t, c.Network, "POST", "ports",
		obj{"port": obj{"name": name, "network_id": c.network, "security_groups": c.groups[:1],
			// of ports, it names the cluster only
			"description": "Created by cluster-api-provider-openstack cluster " + c.name}}).id("port")
	if tagged {
		c.tag(t, "ports", id)
	}
	return id
}

// machine makes a server with its port.
func (c *cluster) machine(t *testing.T, name string, rootVolume bool) (server, port string) {
	t.Helper()
	port = c.port(t, name+"-0", true)
	body := obj{"name": name, "flavorRef": c.flavor, "networks": []obj{{"port": port}}, "tags": c.tags()}
	if rootVolume {
		volume := c.volume(t, obj{"name": name + "-root", "description": "Root volume for " + name,
			"imageRef": c.image})
		c.awaits(t, c.BlockStorage, "volumes/"+volume, "volume", "available")
		body["block_device_mapping_v2"] = []obj{{"source_type": "volume", "destination_type": "volume", "uuid": volume,
			"boot_index": 0, "delete_on_termination": true}}
	} else {
		body["imageRef"] = c.image
	}
	return c.server(t, body), port
}

// server asks for a server, and does not wait until it runs.
func (p *project) server(t *testing.T, server obj) string {
	t.Helper()
	versioned := *p.Compute
	versioned.Microversion = "2.60"
	return p.call(t, &versioned, "POST", "servers", obj{"server": server}).id("server")
}

// volume asks for a volume, and does not wait until it can be used.
func (p *project) volume(t *testing.T, volume obj) string {
	t.Helper()
	volume["size"] = 1
	return p.call(t, p.BlockStorage, "POST", "volumes", obj{"volume": volume}).id("volume")
}

func (p *project) awaits(t *testing.T, service *gophercloud.ServiceClient, path, key, status string) {
	t.Helper()
	eventually(t, path+" is "+status, func() bool {
		var one struct{ Status string }
		if err := json.Unmarshal(p.call(t, service, "GET", path, nil)[key], &one); err != nil ||
			one.Status == "ERROR" || one.Status == "error" {
			t.Fatalf("%s: %v, %s", path, err, one.Status)
		}
		return one.Status == status
	})
}

func (c *cluster) floatingIP(t *testing.T, port string) {
	t.Helper()
	body := obj{"floating_network_id": c.external, "description": c.description()}
	if port != "" {
		body["port_id"] = port
	}
	id := c.call(t, c.Network, "POST", "floatingips", obj{"floatingip": body}).id("floatingip")
	c.tag(t, "floatingips", id)
}

// leftovers are what is known to be left behind: ports of servers that are gone or never were, a root volume for one of
// those, volumes of the CSI driver with a snapshot, a floating IP.
func (c *cluster) leftovers(t *testing.T) {
	t.Helper()
	c.port(t, c.name+"-md-0-gone1-0", true)
	c.port(t, c.name+"-md-0-gone2-0", false)
	c.volume(t, obj{"name": c.name + "-md-0-gone1-root", "description": "Root volume for " + c.name + "-md-0-gone1"})
	property := map[string]string{"cinder.csi.openstack.org/cluster": c.resourceName}
	claimed := c.volume(t, obj{"name": "pvc-" + c.name, "description": "Created by OpenStack Cinder CSI driver",
		"metadata": property})
	c.awaits(t, c.BlockStorage, "volumes/"+claimed, "volume", "available")
	snapshot := c.call(t, c.BlockStorage, "POST", "snapshots",
		obj{"snapshot": obj{"volume_id": claimed, "name": "snapshot-" + c.name, "metadata": property}}).id("snapshot")
	c.awaits(t, c.BlockStorage, "snapshots/"+snapshot, "snapshot", "available")
	c.call(t, c.Network, "POST", "floatingips",
		obj{"floatingip": obj{"floating_network_id": c.external,
			"description": "Floating IP for Kubernetes external service default/web from cluster " + c.resourceName}})
}
