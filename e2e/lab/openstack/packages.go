package openstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/debian"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// rootfs has the services' Python code, the programs under them, what the hypervisor bridge calls, and haproxy, of
// which that makes load balancers.
func rootfs() debian.Rootfs {
	return debian.Rootfs{Name: "openstack", Packages: []string{
		"python3-keystone", "python3-glance", "python3-nova", "python3-neutron", "python3-cinder", "python3-placement",
		"python3-octavia",
		"python3-openstackclient", "rabbitmq-server", "uwsgi-core", "uwsgi-plugin-python3", "mariadb-server-core",
		"mariadb-client-core", "ca-certificates", "iproute2", "iptables", "util-linux", "haproxy",
	}}
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

// packages makes sure that Debian's packages are there, and returns the root file system of all containers and the
// folder of the packages that are unpacked.
func (l *Lab) packages(ctx context.Context) (debian.Built, string, error) {
	cache, err := store.Open()
	if err != nil {
		return debian.Built{}, "", err
	}
	built, err := rootfs().Build(ctx, cache, l.say)
	if err != nil {
		return built, "", err
	}
	key := store.Key(append([]string{runtime.GOARCH}, unpacked()...)...)
	folder, err := cache.Get("openstack", "packages", key, func(dir string) error {
		return l.say.Step("unpack Debian's packages of OpenStack", func() error { return unpack(ctx, dir) })
	})
	return built, folder, err
}

// imageLabel is on every image that the lab imported for OpenStack.
const imageLabel = "cluster-init.io/lab.openstack"

// Image returns the reference of the image of all services, which has haproxy. Start brings it into the engine.
func Image() string { return imageOf(rootfs().Key()) }

func imageOf(key string) string { return "cluster-init.io/lab/openstack:" + strings.ToLower(key) }

// image returns the image of a root file system. The engine imports it unless it has it. Then it deletes those of
// other packages that no container uses.
func (l *Lab) image(ctx context.Context, built debian.Built) (string, error) {
	reference := imageOf(built.Key)
	has, err := host.Run(ctx, host.Command{Name: "docker", Args: []string{"image", "ls", "--quiet", reference}})
	if err != nil || strings.TrimSpace(has) != "" {
		return reference, err
	}
	return reference, l.say.Step("import the image of OpenStack", func() error {
		if _, err := host.Run(ctx, host.Command{Name: "docker", Args: []string{"image", "prune", "--all", "--force",
			"--filter", "label=" + imageLabel}}); err != nil {
			return err
		}
		_, err := host.Run(ctx, host.Command{Name: "docker", Args: []string{"import", "--change",
			"LABEL " + imageLabel + "=", built.Archive, reference}})
		return err
	})
}

// download fetches packages into dir. A new machine has no lists of packages yet.
func download(ctx context.Context, dir string) error {
	fetch := func() error {
		_, err := host.Run(ctx, host.Command{Name: "apt-get", Args: append([]string{"download", "-q"}, unpacked()...),
			Dir: dir})
		return err
	}
	err := fetch()
	if err == nil || ctx.Err() != nil {
		return err
	}
	if listErr := host.InstallPackages(ctx); listErr != nil {
		return errors.Join(err, listErr)
	}
	return fetch()
}

// unpack fetches packages and unpacks them into dir.
func unpack(ctx context.Context, dir string) error {
	fetched, err := os.MkdirTemp(dir, "fetched-")
	if err != nil {
		return fmt.Errorf("fetch packages: %w", err)
	}
	if err := download(ctx, fetched); err != nil {
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
