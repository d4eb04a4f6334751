package service

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// rabbitmq carries the messages between the parts of nova, neutron and cinder. Erlang's name server is a daemon of its
// own: otherwise RabbitMQ would start one that listens everywhere and is never stopped.
func rabbitmq(installation configuration.Installation) Service {
	local := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	data := installation.Variable("rabbitmq")
	names := fmt.Sprintf("ERL_EPMD_PORT=%d", configuration.NamePort)
	return Service{
		Name:    "rabbitmq",
		Folders: []string{data},
		Daemons: []container.Daemon{
			{
				Name:   "epmd",
				Args:   []string{"/usr/bin/epmd", "-address", "127.0.0.1", "-port", fmt.Sprint(configuration.NamePort)},
				Env:    environment(installation),
				Listen: []string{local(configuration.NamePort)},
				Signal: "SIGKILL", // as process 1 it would ignore SIGTERM
			},
			{
				Name: "rabbitmq",
				Args: []string{"/usr/lib/rabbitmq/bin/rabbitmq-server"},
				Env: environment(installation, names, "ERL_EPMD_ADDRESS=127.0.0.1",
					"RABBITMQ_NODENAME=lab@localhost",
					fmt.Sprintf("RABBITMQ_DIST_PORT=%d", configuration.DistributionPort),
					"RABBITMQ_CONF_ENV_FILE=/dev/null",
					"RABBITMQ_CONFIG_FILE="+strings.TrimSuffix(installation.File("rabbitmq.conf"), ".conf"),
					"RABBITMQ_ENABLED_PLUGINS_FILE="+installation.File("rabbitmq-plugins"),
					"RABBITMQ_MNESIA_BASE="+data,
					"RABBITMQ_LOG_BASE="+filepath.Join(installation.Folder, "log"),
					"RABBITMQ_PID_FILE="+installation.Variable("rabbitmq.pid"),
					// One scheduler that does not spin: RabbitMQ has little to do here.
					"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -kernel "+
						"inet_dist_use_interface {127,0,0,1}"),
				Listen: []string{local(configuration.MessagePort), local(configuration.DistributionPort)},
			},
		},
		Answers: func(ctx context.Context) error {
			var dialer net.Dialer
			connection, err := dialer.DialContext(ctx, "tcp", local(configuration.MessagePort))
			if err != nil {
				return err
			}
			return connection.Close()
		},
	}
}
