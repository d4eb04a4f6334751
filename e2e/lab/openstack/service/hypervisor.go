package service

import "github.com/cluster-init/cluster-init/e2e/lab/openstack/process"

// Hypervisor returns the service that makes a machine of each of nova's servers: `PROGRAM openstack hypervisor`, where
// program is the lab's own binary. It is not one of All, as only the lab's command knows its binary, and whether it can
// do that. env is its environment: it needs the user's, to find the Docker engine and the lab's folder.
func Hypervisor(program string, env []string) Service {
	return Service{
		Name: "hypervisor",
		// It asks for the address of each of them when it begins.
		Needs: []string{Keystone, "glance", "neutron", "cinder", Nova},
		Daemons: []process.Daemon{{
			Name: "hypervisor",
			Args: []string{program, "openstack", "hypervisor"},
			Env:  env,
		}},
	}
}
