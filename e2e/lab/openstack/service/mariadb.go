package service

import (
	"context"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// MariaDB is the name of the service that has the databases of the others.
const MariaDB = "mariadb"

// mariadb listens on a socket only, and does not sync: its data is worth nothing after a crash of the machine.
// SQLite does not do: neutron's migrations fail on it.
func mariadb(installation configuration.Installation) Service {
	data := installation.Variable("mariadb")
	return Service{
		Name:    MariaDB,
		Folders: []string{data},
		Prepare: []container.Daemon{step(installation, MariaDB, "/usr/bin/mariadb-install-db",
			"--no-defaults", "--user=root", "--datadir="+data, "--skip-test-db",
			"--auth-root-authentication-method=socket")},
		Daemons: []container.Daemon{{
			Name: MariaDB,
			Args: []string{"/usr/sbin/mariadbd", "--no-defaults", "--user=root", "--datadir=" + data,
				"--socket=" + installation.Variable("mariadb.sock"), "--pid-file=" + installation.Variable(
					"mariadb.pid"),
				"--skip-networking", "--skip-log-bin", "--max-connections=500", "--performance-schema=0",
				"--innodb-buffer-pool-size=128M", "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync",
				"--innodb-doublewrite=0", "--character-set-server=utf8mb3", "--collation-server=utf8mb3_general_ci"},
			Env: environment(installation),
		}},
		Answers: func(ctx context.Context) error { return query(ctx, installation, "select 1;") },
		Register: func(ctx context.Context) error {
			return query(ctx, installation, fmt.Sprintf(
				"create or replace user lab@localhost identified by '%s'; grant all on *.* to lab@localhost;",
				installation.Secrets.Database))
		},
	}
}

// EmptyDatabases recreates the databases.
func EmptyDatabases(ctx context.Context, installation configuration.Installation, names []string) error {
	var statements strings.Builder
	for _, name := range names {
		fmt.Fprintf(&statements, "drop database if exists %s; create database %s;\n", name, name)
	}
	return query(ctx, installation, statements.String())
}

// query has MariaDB run statements, given on stdin: they may hold a password. Its root is the container's, by the
// socket.
func query(ctx context.Context, installation configuration.Installation, statements string) error {
	return container.Exec(ctx, MariaDB, []byte(statements), "/usr/bin/mariadb", "--no-defaults", "--user=root",
		"--socket="+installation.Variable("mariadb.sock"))
}
