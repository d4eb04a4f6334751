package service

import (
	"slices"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// Nova is the name of the service that has the servers.
const Nova = "nova"

// nova has the servers. Its compute hosts have no hypervisor.
func nova(installation configuration.Installation) Service {
	address := installation.Address + ":8774"
	config := []string{"--config-file", installation.File("nova.conf")}
	withDatabase := append(slices.Clip(config), "--config-file", installation.File("nova-database.conf"))
	// Both connections and the cells' addresses, with their passwords, come from the files.
	manage := func(args ...string) container.Daemon {
		return step(installation, Nova, unpacked(installation, "nova-manage"), append(withDatabase[:4:4], args...)...)
	}
	daemon := func(name, program string, config []string, listen ...string) container.Daemon {
		return container.Daemon{
			Name:   name,
			Args:   append([]string{unpacked(installation, program)}, config...),
			Env:    environment(installation),
			Listen: listen,
		}
	}
	service := Service{
		Name:      Nova,
		Needs:     []string{MariaDB, "rabbitmq", Keystone},
		Databases: []string{"nova_api", "nova", "nova_cell0"},
		Folders:   []string{installation.Variable("nova")},
		Prepare: []container.Daemon{
			manage("api_db", "sync"),
			manage("cell_v2", "map_cell0"),
			manage("db", "sync"),
			manage("cell_v2", "create_cell", "--name", "cell1"),
		},
		Daemons: []container.Daemon{
			daemon("nova-conductor", "nova-conductor", withDatabase),
			daemon("nova-api", "nova-api", withDatabase, address),
			daemon("nova-scheduler", "nova-scheduler", withDatabase),
		},
		Answers: answers(address),
	}
	for _, compute := range configuration.Computes() {
		name := "nova-" + compute
		service.Folders = append(service.Folders, installation.Variable(name))
		args := append([]string{"/usr/bin/python3", installation.Python() + "/lab_nova.py"}, config...)
		service.Daemons = append(service.Daemons, container.Daemon{
			Name: name,
			Args: append(args, "--config-file", installation.File(name+".conf")),
			Env:  environment(installation, "LAB_CONSOLES="+installation.Consoles()),
		})
	}
	return service
}
