package service

import (
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// glanceMain serves glance by itself: Debian has it only behind uwsgi, which does not take uploads in chunks.
const glanceMain = "import sys; from glance.cmd.api import main; sys.exit(main())"

// glance has the images.
func glance(installation configuration.Installation) Service {
	address, config := installation.Address+":9292", installation.File("glance.conf")
	return Service{
		Name:      "glance",
		Needs:     []string{MariaDB, Keystone},
		Databases: []string{"glance"},
		Folders:   []string{installation.Variable("glance")},
		Prepare: []container.Daemon{step(installation, "glance", unpacked(installation, "glance-manage"),
			"--config-file", config, "db_sync")},
		Daemons: []container.Daemon{{
			Name:   "glance",
			Args:   []string{"/usr/bin/python3", "-c", glanceMain, "--config-file", config},
			Env:    environment(installation),
			Listen: []string{address},
		}},
		Answers: answers(address),
	}
}
