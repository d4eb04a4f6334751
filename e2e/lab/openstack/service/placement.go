package service

import (
	"path/filepath"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// placement knows how much room the compute hosts have left.
func placement(installation configuration.Installation) Service {
	address := installation.Address + ":8778"
	return Service{
		Name:      "placement",
		Needs:     []string{MariaDB, Keystone},
		Databases: []string{"placement"},
		Prepare: []container.Daemon{
			step(installation, "placement", "/usr/bin/placement-manage", "--config-file",
				installation.File("placement.conf"), "db", "sync"),
		},
		Daemons: []container.Daemon{{
			Name: "placement",
			Args: uwsgi(address, "/usr/bin/placement-api"),
			Env: environment(installation, "OS_PLACEMENT_CONFIG_DIR="+
				filepath.Dir(installation.File("placement.conf"))),
			Listen: []string{address},
		}},
		Answers: answers(address),
	}
}
