package service

import (
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// neutron has networks, routers, ports, security groups and floating IPs. No agent makes anything of them.
func neutron(installation configuration.Installation) Service {
	address, config := installation.Address+":9696", installation.File("neutron.conf")
	return Service{
		Name:      "neutron",
		Needs:     []string{MariaDB, "rabbitmq", Keystone},
		Databases: []string{"neutron"},
		Prepare: []container.Daemon{
			step(installation, "neutron", unpacked(installation, "neutron-db-manage"), "--config-file", config,
				"upgrade", "heads"),
		},
		Daemons: []container.Daemon{{
			Name:   "neutron",
			Args:   []string{unpacked(installation, "neutron-server"), "--config-file", config},
			Env:    environment(installation),
			Listen: []string{address},
		}},
		Answers: answers(address),
	}
}
