package openstack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// installed returns the packages that are installed: the services' Python code, and the programs under them.
func installed() []string {
	return []string{
		"python3-keystone", "python3-glance", "python3-nova", "python3-neutron", "python3-cinder", "python3-placement",
		"python3-openstackclient", "rabbitmq-server", "uwsgi-core", "uwsgi-plugin-python3", "mariadb-server-core",
		"mariadb-client-core",
	}
}

// unpacked returns the packages that are only unpacked into the lab's cache: they hold small programs and files, and
// installing them would ask questions, make users, and bring a hypervisor.
func unpacked() []string {
	return []string{
		"nova-common", "nova-api", "nova-conductor", "nova-scheduler", "nova-compute", "neutron-common",
		"glance-common",
		"cinder-common", "cinder-api", "cinder-scheduler", "cinder-volume",
	}
}

// packages makes sure that Debian's packages are there, and returns the folder of those that are unpacked.
func (l *Lab) packages(ctx context.Context) (string, error) {
	if missing, err := host.Missing(ctx, installed()...); err != nil {
		return "", err
	} else if len(missing) > 0 {
		if err := l.say.Step("install Debian's packages of OpenStack",
			func() error { return host.InstallPackages(ctx, missing...) }); err != nil {
			return "", err
		}
	}
	cache, err := store.Open()
	if err != nil {
		return "", err
	}
	key := store.Key(append([]string{runtime.GOARCH}, unpacked()...)...)
	return cache.Get("openstack", "packages", key, func(dir string) error {
		return l.say.Step("unpack Debian's packages of OpenStack", func() error { return unpack(ctx, dir) })
	})
}

// unpack fetches packages and unpacks them into dir.
func unpack(ctx context.Context, dir string) error {
	fetched, err := os.MkdirTemp(dir, "fetched-")
	if err != nil {
		return fmt.Errorf("fetch packages: %w", err)
	}
	_, err = host.Run(ctx, host.Command{Name: "apt-get", Args: append([]string{"download", "-q"}, unpacked()...),
		Dir: fetched})
	if err != nil {
		return fmt.Errorf("fetch packages: %w", err)
	}
	archives, err := filepath.Glob(filepath.Join(fetched, "*.deb"))
	if err != nil {
		return fmt.Errorf("fetch packages: %w", err)
	}
	for _, archive := range archives {
		if _, err := host.Run(ctx, host.Command{Name: "dpkg-deb",
			Args: []string{"--extract", archive, dir}}); err != nil {
			return fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
		}
	}
	if err := os.RemoveAll(fetched); err != nil {
		return fmt.Errorf("remove fetched packages: %w", err)
	}
	return nil
}
