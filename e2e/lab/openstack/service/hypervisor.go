package service

import "github.com/cluster-init/cluster-init/e2e/lab/openstack/container"

// Hypervisor returns the service that makes a machine of each of nova's servers: `PROGRAM openstack hypervisor`, where
// program is the lab's own binary. It is not one of All, as only the lab's command knows its binary, and whether it can
// do that. It needs the environment of the user, and mounts of the Docker CLI, its engine and the user's cache folder.
func Hypervisor(program string, env, mounts []string) Service {
	return Service{
		Name: "hypervisor",
		// It asks for the address of each of them when it begins.
		Needs: []string{Keystone, "glance", "neutron", "cinder", Nova, Octavia},
		Daemons: []container.Daemon{{
			Name: "hypervisor", OnHost: true, Env: env, Mounts: mounts,
			Args: []string{program, "openstack", "hypervisor"},
		}},
	}
}
