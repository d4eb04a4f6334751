package openstack

import (
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/openstack/preflight"
)

// needs translates the environment's requirements for its cloud into the adapter's type.
func needs(env *environment.Environment) preflight.Needs {
	of := env.OpenStack()
	made := of.Resources()
	octavia := of.APIServer.Mode == environment.APIServerOctavia
	return preflight.Needs{
		Tag: env.OpenStackTag(),
		ControlPlane: preflight.Machines{Count: of.ControlPlane.Count, Flavor: of.ControlPlane.Flavor,
			Zones: of.ControlPlane.AvailabilityZones},
		Workers: preflight.Machines{Count: of.Workers.Count, Flavor: of.Workers.Flavor,
			Zones: of.Workers.AvailabilityZones},
		Image:   of.Image,
		KeyPair: of.SSHKeyName,
		RootVolume: preflight.RootVolume{GiB: of.RootVolume.SizeGiB, Type: of.RootVolume.Type,
			Zone: of.RootVolume.AvailabilityZone},
		ExternalNetwork: of.ExternalNetwork,
		Network:         of.Network.Network,
		Subnet:          of.Network.Subnet,
		Router:          of.Network.Router,
		FloatingIP:      of.APIServer.FloatingIP,
		AddressGoes:     of.APIServer.Mode == environment.APIServerFloatingIP && of.APIServer.FloatingIP == "",
		LoadBalancers:   octavia || of.LoadBalancers,
		Volumes:         of.RootVolume.SizeGiB > 0 || of.CinderCSI,
		ServerGroups:    env.OpenStackServerGroups(),
		Resources: preflight.Resources{
			Servers: made.Servers, ServerGroups: made.ServerGroups, Ports: made.Ports, Networks: made.Networks,
			Subnets: made.Subnets,
			Routers: made.Routers, SecurityGroups: made.SecurityGroups, FloatingIPs: made.FloatingIPs,
			Volumes: made.Volumes, Gigabytes: made.Gigabytes,
		},
	}
}
