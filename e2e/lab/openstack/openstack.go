// Package openstack runs a real OpenStack on this machine, from Debian's packages in containers: keystone, glance,
// placement, nova with its fake compute driver, neutron without agents, cinder without disks, octavia without amphorae.
// docs/contributing/openstack-lab.md says what differs from a real cloud.
package openstack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/service"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

// Address is where all APIs listen, and what the catalog says. It is on the loopback interface, so that containers of
// any docker network reach it through their gateway; it is reserved for documentation (RFC 5737).
const Address = "198.51.100.1"

// lockName is the lock of whoever starts or stops the lab.
const lockName = "openstack"

// Lab is the OpenStack of this machine.
type Lab struct {
	dir string
	say *progress.Printer
	// hypervisor is the program that can make machines of servers, "" when there is none.
	hypervisor string
}

// Open returns the lab in the user's cache folder. It does not create anything.
func Open(say *progress.Printer) (*Lab, error) {
	dir, err := host.CacheDir("lab", "openstack")
	if err != nil {
		return nil, err
	}
	return &Lab{dir: dir, say: say}, nil
}

// Clouds returns the path of the clouds.yaml with entries admin, demo and those of Project.
func (l *Lab) Clouds() string { return filepath.Join(l.dir, "clouds.yaml") }

// KeyFile returns the path of the private part of demo's key pair lab.
func (l *Lab) KeyFile() string { return filepath.Join(l.dir, "lab.pem") }

// Identity returns the address of the identity service, by which a cloud is known.
func (l *Lab) Identity() string { return l.installation().Identity() }

// ready returns the path of the mark that everything came up. It is written last and removed first.
func (l *Lab) ready() string { return filepath.Join(l.dir, "ready") }

// done returns the path of the mark that something has been done that is done once.
func (l *Lab) done(name string) string { return filepath.Join(l.dir, "done", name) }

// installation returns what there is already, without making anything: passwords may be missing.
func (l *Lab) installation() configuration.Installation {
	return configuration.Installation{Folder: l.dir, Address: Address}
}

// whole is installation with the passwords. It fails when the lab was never started.
func (l *Lab) whole() (configuration.Installation, error) {
	installation := l.installation()
	if !exists(l.ready()) {
		return installation, errors.New("the OpenStack lab is not up: start it with `go run ./e2e/lab openstack start`")
	}
	var err error
	installation.Secrets, err = configuration.OpenSecrets(l.secrets())
	return installation, err
}

func (l *Lab) secrets() string { return filepath.Join(l.dir, "secrets.json") }

// services returns all services, with the hypervisor when there is one.
func (l *Lab) services(installation configuration.Installation) []service.Service {
	all := service.All(installation)
	if l.hypervisor != "" {
		all = append(all, service.Hypervisor(l.binary(), l.hypervisorEnvironment(), l.hypervisorMounts()))
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// mark writes an empty file.
func mark(path string) error { return configuration.Write(path, nil) }

// unmark removes a mark that may not be there.
func unmark(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove a mark: %w", err)
	}
	return nil
}
