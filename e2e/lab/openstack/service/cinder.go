package service

import (
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// cinder has the volumes.
func cinder(installation configuration.Installation) Service {
	address, config := installation.Address+":8776", installation.File("cinder.conf")
	daemon := func(name string, listen ...string) container.Daemon {
		return container.Daemon{
			Name:   name,
			Args:   []string{unpacked(installation, name), "--config-file", config},
			Env:    environment(installation),
			Listen: listen,
		}
	}
	return Service{
		Name:      "cinder",
		Needs:     []string{MariaDB, "rabbitmq", Keystone},
		Databases: []string{"cinder"},
		Folders:   []string{installation.Variable("cinder")},
		Prepare: []container.Daemon{step(installation, "cinder", unpacked(installation, "cinder-manage"),
			"--config-file", config, "db", "sync")},
		Daemons: []container.Daemon{daemon("cinder-api", address), daemon("cinder-scheduler"), daemon("cinder-volume")},
		Answers: answers(address),
	}
}
