package service

import (
	"context"
	"path/filepath"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
)

// Keystone is the name of the service that knows users, projects and the other services.
const Keystone = "keystone"

func keystone(installation configuration.Installation) Service {
	address := installation.Address + ":5000"
	manage := func(env []string, args ...string) container.Daemon {
		run := step(installation, Keystone, "/usr/bin/keystone-manage",
			append([]string{"--config-file", installation.File("keystone.conf")}, args...)...)
		run.Env = append(run.Env, env...)
		return run
	}
	return Service{
		Name:      Keystone,
		Needs:     []string{addressName, MariaDB},
		Databases: []string{"keystone"},
		Folders:   []string{installation.Variable("fernet"), installation.Variable("credential")},
		Prepare: []container.Daemon{
			manage(nil, "db_sync"),
			manage(nil, "fernet_setup", "--keystone-user", "root", "--keystone-group", "root"),
			manage(nil, "credential_setup", "--keystone-user", "root", "--keystone-group", "root"),
			manage([]string{"OS_BOOTSTRAP_PASSWORD=" + installation.Secrets.Admin}, "bootstrap",
				"--bootstrap-region-id", configuration.Region, "--bootstrap-admin-url", installation.Identity(),
				"--bootstrap-public-url", installation.Identity(), "--bootstrap-internal-url", installation.Identity()),
		},
		Daemons: []container.Daemon{{
			Name: Keystone,
			Args: uwsgi(address, "/usr/bin/keystone-wsgi-public"),
			// Keystone's uwsgi program takes no argument: it looks for a keystone.conf in this folder.
			Env: environment(installation, "OS_KEYSTONE_CONFIG_DIR="+
				filepath.Dir(installation.File("keystone.conf"))),
			Listen: []string{address},
		}},
		Answers:  answers(address),
		Register: func(ctx context.Context) error { return resource.Register(ctx, installation) },
	}
}

// uwsgi returns a command that serves a WSGI program. Without "Connection: close" Go clients meet connections that
// uwsgi is just about to close.
func uwsgi(address, program string) []string {
	return []string{"/usr/bin/uwsgi", "--plugin", "python3", "--http-socket", address, "--wsgi-file", program,
		"--master", "--die-on-term", "--need-app", "--lazy-apps", "--processes", "1", "--threads", "4",
		"--enable-threads",
		"--add-header", "Connection: close", "--buffer-size", "65535", "--disable-logging"}
}
