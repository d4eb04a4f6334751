package openstack

import (
	"maps"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/openstack/preflight"
)

// needs translates the environment's requirements for its cloud into the adapter's type.
func needs(env *environment.Environment) preflight.Needs {
	of := env.OpenStack()
	made := of.Resources()
	workers := machinesOf(of.Workers)
	if env.Spec().Cluster.Worker.Flavor != "" {
		workers.Value = "cluster.worker.flavor"
	}
	var pools []preflight.Machines
	for _, name := range slices.Sorted(maps.Keys(of.Pools)) {
		pool := machinesOf(of.Pools[name])
		if env.Spec().Cluster.Workers[name].Flavor != "" {
			pool.Value = "cluster.workers." + name + ".flavor"
		}
		pools = append(pools, pool)
	}
	octavia := of.APIServer.Mode == environment.APIServerOctavia
	return preflight.Needs{
		Tag:          env.OpenStackTag(),
		ControlPlane: machinesOf(of.ControlPlane), Workers: workers, Pools: pools,
		Image: of.Image, KeyPair: of.SSHKeyName,
		RootVolume: preflight.RootVolume{GiB: of.RootVolume.SizeGiB, Type: of.RootVolume.Type,
			Zone: of.RootVolume.AvailabilityZone},
		ExternalNetwork:    of.ExternalNetwork,
		Network:            of.Network.Network,
		Subnet:             of.Network.Subnet,
		Router:             of.Network.Router,
		FloatingIP:         of.APIServer.FloatingIP,
		AddressDescription: clusterOf(env).AddressDescription(),
		LoadBalancers:      octavia || of.LoadBalancers,
		Volumes:            of.RootVolume.SizeGiB > 0 || of.CinderCSI,
		ServerGroups:       env.OpenStackServerGroups(),
		Resources: preflight.Resources{
			Servers: made.Servers, ServerGroups: made.ServerGroups, Ports: made.Ports, Networks: made.Networks,
			Subnets: made.Subnets,
			Routers: made.Routers, SecurityGroups: made.SecurityGroups, FloatingIPs: made.FloatingIPs,
			Volumes: made.Volumes, Gigabytes: made.Gigabytes,
		},
	}
}

// machinesOf translates those of one role.
func machinesOf(of environment.OpenStackMachines) preflight.Machines {
	return preflight.Machines{Count: of.Count, Flavor: of.Flavor, Zones: of.AvailabilityZones}
}
