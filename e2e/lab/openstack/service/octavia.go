package service

import (
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// Octavia is the name of the service that has the load balancers.
const Octavia = "octavia"

// octavia has the load balancers. Its API does without workers: the lab's provider driver runs in it.
func octavia(installation configuration.Installation) Service {
	address, config := installation.Address+":9876", installation.File("octavia.conf")
	return Service{
		Name: Octavia,
		// It needs neutron only when a request makes a load balancer.
		Needs:     []string{MariaDB, Keystone},
		Databases: []string{"octavia"},
		Prepare: []container.Daemon{step(installation, Octavia, "/usr/bin/octavia-db-manage", "--config-file", config,
			"upgrade", "head")},
		Daemons: []container.Daemon{{
			Name:   Octavia,
			Args:   append(uwsgi(address, "/usr/bin/octavia-wsgi"), "--pyargv", "--config-file "+config),
			Env:    environment(installation),
			Listen: []string{address},
		}},
		Answers: answers(address),
	}
}
