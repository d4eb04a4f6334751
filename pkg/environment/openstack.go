package environment

import (
	"cmp"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// OpenStack is what an environment requests of an OpenStack cloud (infra_provider capo). Where an id or a name is
// allowed, it is what the user wrote. The chart distinguishes them.
type OpenStack struct {
	// ControlPlane and Workers are the machines.
	ControlPlane, Workers OpenStackMachines
	// Pools are the further pools of workers, by name. They share the server group of Workers.
	Pools map[string]OpenStackMachines
	// Image of all machines, by id or by name; never empty.
	Image string
	// SSHKeyName is the key pair of all machines; empty means none.
	SSHKeyName string
	// RootVolume is the disk of each machine.
	RootVolume OpenStackRootVolume
	// ExternalNetwork, by id or by name, has the floating IPs and the router's gateway. It is empty only if the API
	// server has a fixed IP or a virtual one. Then the cluster's network has no way out.
	ExternalNetwork string
	// Network is the one that machines are on.
	Network OpenStackNetwork
	// APIServer is how the API server is reached.
	APIServer OpenStackAPIServer
	// LoadBalancers reports whether the cloud controller manager makes load balancers for Services.
	LoadBalancers bool
	// CinderCSI reports whether the component cinder-csi, which makes volumes, is enabled in the management cluster.
	CinderCSI bool
}

// OpenStackMachines are machines of one sort.
type OpenStackMachines struct {
	// Count is their number. During a replacement there is one more.
	Count int
	// Flavor, by id or by name.
	Flavor string
	// ServerGroupPolicy is that of the server group that is made for them; empty means none is made.
	ServerGroupPolicy string
	// AvailabilityZones of Nova; empty leaves the choice to the provider.
	AvailabilityZones []string
}

// OpenStackRootVolume is a volume of Cinder that a machine boots from.
type OpenStackRootVolume struct {
	// SizeGiB is zero if machines boot from the disk of their flavor.
	SizeGiB int `json:"size"`
	// Type is a volume type; empty means the cloud's default.
	Type string `json:"type"`
	// AvailabilityZone of Cinder; empty leaves it to Cinder.
	AvailabilityZone string `json:"availability_zone"`
}

// OpenStackNetwork is the network of the machines: a new or an existing one.
type OpenStackNetwork struct {
	// Made reports whether a network and a subnet are created, and also a router if there is an external network and no
	// Router. Otherwise Network exists.
	Made bool
	// CIDR of the subnet that is made.
	CIDR string
	// DNSNameservers of the subnet that is made.
	DNSNameservers []string
	// Network, Subnet and Router exist already, by id or by name. Each may be empty; Network is empty if Made.
	Network, Subnet, Router string
}

// How an API server is reached.
const (
	// APIServerFloatingIP is a floating IP at one of the control plane machines.
	APIServerFloatingIP = "floating-ip"
	// APIServerFixedIP is an address of the machines' network that OpenStack does not move.
	APIServerFixedIP = "fixed-ip"
	// APIServerOctavia is a load balancer of Octavia.
	APIServerOctavia = "octavia"
	// APIServerVIP is a virtual address of the machines' subnet, which keepalived gives to one of the control-plane
	// machines.
	APIServerVIP = "vip"
)

// OpenStackAPIServer is how the API server is reached.
type OpenStackAPIServer struct {
	// Mode is APIServerFloatingIP, APIServerFixedIP, APIServerOctavia or APIServerVIP.
	Mode string `json:"mode"`
	// FloatingIP is the address of an existing floating IP. Empty means that one is created, unless Mode is
	// APIServerFixedIP or APIServerVIP.
	FloatingIP string `json:"floating_ip"`
	// ManagedFloatingIP is the address of the floating IP that cluster-init has made, see ManagedAddress.
	ManagedFloatingIP string `json:"managed_floating_ip"`
	// FixedIP is given when Mode is APIServerFixedIP or APIServerVIP.
	FixedIP string `json:"fixed_ip"`
}

// OpenStackResources are counts of what is created, as quotas count.
type OpenStackResources struct {
	Servers, ServerGroups, Ports, Networks, Subnets, Routers, SecurityGroups, FloatingIPs, LoadBalancers int
	// Volumes and Gigabytes are the machines' root volumes.
	Volumes, Gigabytes int
}

// openStackValues are the chart's values below cluster.openstack.
type openStackValues struct {
	Image                         string   `json:"image"`
	SSHKeyName                    string   `json:"ssh_key_name"`
	ExternalNetwork               string   `json:"external_network"`
	ControlPlaneFlavor            string   `json:"control_plane_flavor"`
	WorkerFlavor                  string   `json:"worker_flavor"`
	ControlPlaneAvailabilityZones []string `json:"control_plane_availability_zones"`
	WorkerAvailabilityZone        string   `json:"worker_availability_zone"`
	ServerGroups                  struct {
		ControlPlane string `json:"control_plane"`
		Worker       string `json:"worker"`
	} `json:"server_groups"`
	RootVolume     OpenStackRootVolume `json:"root_volume"`
	Network        string              `json:"network"`
	Subnet         string              `json:"subnet"`
	Router         string              `json:"router"`
	NodeCIDR       string              `json:"node_cidr"`
	DNSNameservers []string            `json:"dns_nameservers"`
	APIServer      OpenStackAPIServer  `json:"api_server"`
	LoadBalancers  bool                `json:"load_balancers"`
	CloudsYAML     string              `json:"clouds_yaml_b64"`
	CloudName      string              `json:"cloud_name"`
	CACert         string              `json:"cacert_b64"`
}

// OpenStack returns what the environment requests of an OpenStack cloud. It is meaningful if InfraProvider is capo.
func (e *Environment) OpenStack() OpenStack {
	values := e.openstack
	cloud := OpenStack{
		Image: values.Image, SSHKeyName: values.SSHKeyName, ExternalNetwork: values.ExternalNetwork,
		RootVolume: values.RootVolume,
		ControlPlane: OpenStackMachines{
			Count: e.spec.Cluster.ControlPlane.Replicas, Flavor: values.ControlPlaneFlavor,
			ServerGroupPolicy: values.ServerGroups.ControlPlane,
			AvailabilityZones: values.ControlPlaneAvailabilityZones,
		},
		Workers: OpenStackMachines{
			Count:             e.spec.Cluster.Worker.Count(),
			Flavor:            cmp.Or(e.spec.Cluster.Worker.Flavor, values.WorkerFlavor),
			ServerGroupPolicy: values.ServerGroups.Worker,
		},
		Network:       OpenStackNetwork{Network: values.Network, Subnet: values.Subnet, Router: values.Router},
		APIServer:     values.APIServer,
		LoadBalancers: values.LoadBalancers,
		CinderCSI:     e.enabled(e.lasting(), "cinder-csi"),
	}
	if values.WorkerAvailabilityZone != "" {
		cloud.Workers.AvailabilityZones = []string{values.WorkerAvailabilityZone}
	}
	for name, pool := range e.spec.Cluster.Workers {
		if cloud.Pools == nil {
			cloud.Pools = map[string]OpenStackMachines{}
		}
		machines := cloud.Workers
		machines.Count, machines.Flavor = pool.Count(), cmp.Or(pool.Flavor, values.WorkerFlavor)
		cloud.Pools[name] = machines
	}
	if values.Network != "" {
		return cloud
	}
	cloud.Network.Made, cloud.Network.CIDR = true, values.NodeCIDR
	for _, some := range values.DNSNameservers {
		for _, server := range strings.Split(some, ",") {
			if server = strings.TrimSpace(server); server != "" {
				cloud.Network.DNSNameservers = append(cloud.Network.DNSNameservers, server)
			}
		}
	}
	return cloud
}

// OpenStackCredentials are the login for the cloud of the machines, as the environment gives it: the text of a
// clouds.yaml and of certificate authorities, both in base64, and the name of a cloud in the former. All are secret.
func (e *Environment) OpenStackCredentials() (cloudsYAML, cloudName, caCert string) {
	return e.openstack.CloudsYAML, e.openstack.CloudName, e.openstack.CACert
}

// OpenStackClusterName is what Cluster API's provider for OpenStack calls the cluster in the names of what it makes:
// namespace and name.
func (e *Environment) OpenStackClusterName() string {
	return owned.CloudName(e.ClusterNamespace(), e.ClusterName())
}

// OpenStackTag is on the servers, ports, networks, subnets, routers, security groups and floating IPs that are made for
// this cluster. Another cluster has it only if it has the same owned.CloudName.
func (e *Environment) OpenStackTag() string {
	return owned.Tag(e.OpenStackClusterName())
}

// OpenStackServerGroups are the names of the server groups that are made.
func (e *Environment) OpenStackServerGroups() []string {
	cloud, names := e.OpenStack(), []string(nil)
	if cloud.ControlPlane.ServerGroupPolicy != "" {
		names = append(names, e.OpenStackClusterName()+"-control-plane")
	}
	if cloud.Workers.ServerGroupPolicy != "" {
		names = append(names, e.OpenStackClusterName()+"-workers")
	}
	return names
}

// Resources counts what is created when the cluster is built. Ports are those of the machines, of the router, of the
// API server's load balancer and of its virtual address. It does not count those that neutron adds for its DHCP agents.
func (o OpenStack) Resources() OpenStackResources {
	servers := o.ControlPlane.Count + o.Workers.Count
	for _, pool := range o.Pools {
		servers += pool.Count
	}
	made := OpenStackResources{Servers: servers, Ports: servers, SecurityGroups: 2}
	for _, machines := range []OpenStackMachines{o.ControlPlane, o.Workers} {
		if machines.ServerGroupPolicy != "" {
			made.ServerGroups++
		}
	}
	if o.RootVolume.SizeGiB > 0 {
		made.Volumes, made.Gigabytes = servers, servers*o.RootVolume.SizeGiB
	}
	if o.Network.Made {
		made.Networks, made.Subnets = 1, 1
		if o.ExternalNetwork != "" {
			made.Ports++ // the router's
			if o.Network.Router == "" {
				made.Routers = 1
			}
		}
	}
	switch o.APIServer.Mode {
	case APIServerFixedIP:
		return made
	case APIServerVIP:
		made.Ports++
		return made
	case APIServerOctavia:
		made.LoadBalancers, made.Ports = 1, made.Ports+1
	}
	if o.APIServer.FloatingIP == "" {
		made.FloatingIPs = 1
	}
	return made
}
