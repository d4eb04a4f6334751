// Package engine does on this machine what the hypervisor bridge decides: containers and networks in its Docker engine,
// and addresses, routes and rules in its own network. It needs root, and an engine on this machine.
package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
)

// Labels of what the bridge makes. Nothing without the first one, with the cloud's endpoint as value, is ever touched.
const (
	cloudLabel    = "cluster-init.io/openstack-cloud"
	serverLabel   = "cluster-init.io/openstack-server"
	balancerLabel = "cluster-init.io/openstack-load-balancer"
	networkLabel  = "cluster-init.io/openstack-network"
)

// Engine is the Docker engine of this machine, as far as it belongs to one cloud.
type Engine struct {
	// Cloud is the endpoint of the cloud's identity service.
	Cloud string
	// Image returns the reference of the image of machines whose servers were made of the cloud's image of that name.
	// The engine has it then.
	Image func(ctx context.Context, name string) (string, error)
	// ProxyImage is the reference of the image with haproxy, which the engine has.
	ProxyImage string
	// Consoles is the folder that gets the consoles of the servers.
	Consoles string
}

// docker runs one command of the docker CLI and returns what it wrote.
func docker(ctx context.Context, args ...string) (string, error) {
	return host.Run(ctx, host.Command{Name: "docker", Args: args})
}

// lines returns the words of an answer with one word in each line.
func lines(out string, err error) ([]string, error) { return strings.Fields(out), err }

// World returns the containers and the networks of the cloud.
func (e Engine) World(ctx context.Context) (hypervisor.World, error) {
	var world hypervisor.World
	ids, err := lines(docker(ctx, "container", "ls", "--all", "--quiet", "--no-trunc", "--filter", "label="+cloudLabel+
		"="+e.Cloud))
	if err != nil {
		return world, err
	}
	all, err := inspect(ctx, ids)
	if err != nil {
		return world, err
	}
	for _, container := range all {
		if container.Balancer != "" {
			world.Proxies = append(world.Proxies, container)
		} else {
			world.Containers = append(world.Containers, container)
		}
	}
	world.Networks, err = lines(docker(ctx, "network", "ls", "--format", `{{.Label "`+networkLabel+`"}}`, "--filter",
		"label="+cloudLabel+"="+e.Cloud))
	return world, err
}

// inspected is the part of `docker container inspect` that is read.
type inspected struct {
	ID    string `json:"Id"`
	Name  string
	State struct {
		Status string
		Pid    int
	}
	Config          struct{ Labels map[string]string }
	NetworkSettings struct{ Networks map[string]any }
}

// inspect returns the containers, but those that have gone since they were listed.
func inspect(ctx context.Context, ids []string) ([]hypervisor.Container, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	out, err := docker(ctx, append([]string{"container", "inspect"}, ids...)...)
	if err != nil && !strings.Contains(err.Error(), "No such container") {
		return nil, err
	}
	var all []inspected
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return nil, fmt.Errorf("read what docker says of containers: %w", err)
	}
	var found []hypervisor.Container
	for _, one := range all {
		container := hypervisor.Container{
			ID: one.ID, Name: strings.TrimPrefix(one.Name, "/"), Server: one.Config.Labels[serverLabel],
			Balancer: one.Config.Labels[balancerLabel], Status: one.State.Status, PID: one.State.Pid,
		}
		for name := range one.NetworkSettings.Networks {
			container.Networks = append(container.Networks, strings.TrimPrefix(name, networkName("")))
		}
		found = append(found, container)
	}
	return found, nil
}
