// Package service describes the services of the OpenStack lab, one file each: what they need, what they are prepared
// with, their daemons, and how one sees that they work.
package service

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

// Service is one service and its daemons.
type Service struct {
	Name string
	// Needs are the services that must work before the daemons start.
	Needs []string
	// Folders and Databases are emptied before Prepare, which may have been killed half-way.
	Folders, Databases []string
	// Prepare are the commands that have to succeed once, in this order, before the daemons start for the first time.
	Prepare []container.Daemon
	Daemons []container.Daemon
	// Answers returns nil when the service works; where it is nil, the daemons only have to run.
	Answers func(context.Context) error
	// Register is called once, after the service answers for the first time. It may be repeated.
	Register func(context.Context) error
}

// All returns the services, each after those that it needs.
func All(installation configuration.Installation) []Service {
	return []Service{
		address(installation), mariadb(installation), rabbitmq(installation),
		keystone(installation),
		placement(installation), glance(installation), neutron(installation), cinder(installation),
		nova(installation), octavia(installation),
	}
}

// StopOrder returns the daemons in groups: a service stops before those that it needs.
func StopOrder(services []Service) [][]string {
	depth := map[string]int{}
	var groups [][]string
	for _, service := range services {
		level := 0
		for _, need := range service.Needs {
			level = max(level, depth[need]+1)
		}
		depth[service.Name] = level
		for len(groups) <= level {
			groups = append([][]string{nil}, groups...)
		}
		group := len(groups) - 1 - level
		for _, daemon := range service.Daemons {
			groups[group] = append(groups[group], daemon.Name)
		}
	}
	return groups
}

// environment returns what all programs of the services find: nothing of the user's, such as a proxy or another Python.
func environment(installation configuration.Installation, more ...string) []string {
	return append([]string{
		"PATH=" + installation.Packages + "/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + installation.Variable("home"),
		"LC_ALL=C.UTF-8",
		"PYTHONPATH=" + installation.Python(),
		"PYTHONDONTWRITEBYTECODE=1",
	}, more...)
}

// step returns a program that prepares a service.
func step(installation configuration.Installation, service, program string, args ...string) container.Daemon {
	return container.Daemon{Name: PrepareName(service), Args: append([]string{program}, args...),
		Env: environment(installation)}
}

// PrepareName is the name, of log and note, of what prepares a service.
func PrepareName(service string) string { return "prepare-" + service }

// unpacked returns the path of a program of the packages that are unpacked, not installed.
func unpacked(installation configuration.Installation, program string) string {
	return installation.Packages + "/usr/bin/" + program
}

// answers returns a check that any answer comes from an address: each API says its versions to everyone.
func answers(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
		if err != nil {
			return err
		}
		response, err := direct().Do(request)
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil {
			return err
		}
		if response.StatusCode >= http.StatusInternalServerError {
			return fmt.Errorf("%s answers %s", address, response.Status)
		}
		return nil
	}
}

// direct returns a client that asks no proxy and keeps no connection.
func direct() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

// Check returns nil when the service works, as far as that can be seen from outside.
func (s Service) Check(ctx context.Context) error {
	if s.Answers == nil {
		return nil
	}
	return s.Answers(ctx)
}
