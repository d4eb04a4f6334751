// Package docker is the provider whose machines are containers of a Docker engine (Cluster API's CAPD).
package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	engine "github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/docker/addresses"
)

// Engine is the part of the Docker engine that is needed.
type Engine interface {
	addresses.Engine
	// Logs and Output are those of docker.Client.
	Logs(ctx context.Context, container string, lines, limit int) (string, error)
	Output(ctx context.Context, container string, args []string, limit int) (string, error)
}

// Provider makes the machines of one cluster.
type Provider struct {
	Engine  Engine
	Cluster string
}

var (
	_ provider.Provider      = Provider{}
	_ provider.NameSharer    = Provider{}
	_ provider.AddressKeeper = Provider{}
)

// Place is Docker.
func (Provider) Place() string { return "Docker" }

// ReachesEngine is true: machines are in a network of the engine.
func (Provider) ReachesEngine() bool { return true }

// SharesNames is true: the names of the load balancer and of the machines' label have no namespace.
func (Provider) SharesNames() bool { return true }

// Preflight has nothing to check: the engine is that of the bootstrap cluster, which `up` checks anyway.
func (Provider) Preflight(context.Context, provider.Reporter) error { return nil }

// Kinds is empty: Cluster API's own kinds report what machines wait for.
func (Provider) Kinds() []schema.GroupVersionResource { return nil }

// Machines returns the containers of the cluster's machines and of their load balancer. A machine without our marker is
// an error with the code fault.ClusterForeign: it may be of a kind cluster of the same name, which Cluster API would
// take for its own.
func (p Provider) Machines(ctx context.Context) ([]provider.Machine, error) {
	containers, err := p.containers(ctx)
	if err != nil {
		return nil, err
	}
	var machines []provider.Machine
	for _, c := range containers {
		machines = append(machines, provider.Machine{Name: c.Name, Stopped: addresses.Stopped(c),
			Paused: c.Status == "paused"})
	}
	return machines, nil
}

// containers returns those of the machines and of their load balancer, in the order of their creation.
func (p Provider) containers(ctx context.Context) ([]engine.Container, error) {
	names, err := p.Engine.Containers(ctx, engine.Filter{Labels: []string{kind.ClusterLabel + "=" + p.Cluster}})
	if err != nil {
		return nil, err
	}
	var containers []engine.Container
	for _, name := range names {
		c, err := p.Engine.Inspect(ctx, name)
		if errors.Is(err, engine.ErrNotFound) { // it was deleted in the meantime
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("inspect machine %s: %w", name, err)
		}
		if c.Labels[kind.RoleLabel] != kind.LoadBalancerRole && !c.HasMount(owned.Marker(p.Cluster)) {
			return nil, fault.New(fault.ClusterForeign,
				fmt.Sprintf("container %s is a node of a cluster %s that cluster-init did not make", name, p.Cluster),
				"Delete that cluster, or give the management cluster another name with --set cluster.name=NAME.")
		}
		c.Name = name
		containers = append(containers, c)
	}
	slices.SortStableFunc(containers, func(a, b engine.Container) int { return a.Created.Compare(b.Created) })
	return containers, nil
}

// Start starts a container.
func (p Provider) Start(ctx context.Context, m provider.Machine) error {
	return p.Engine.Start(ctx, m.Name)
}

// Misplaced finds containers that run with another address than the one in the files of the machines.
func (p Provider) Misplaced(ctx context.Context) (found provider.Misplaced, err error) {
	containers, err := p.containers(ctx)
	if err != nil {
		return found, err
	}
	items, err := addresses.Cluster{Engine: p.Engine, Name: p.Cluster, Containers: containers}.Misplaced(ctx)
	for _, i := range items {
		if i.Container.Labels[kind.RoleLabel] == kind.LoadBalancerRole {
			found.Balancers = append(found.Balancers, i.Container.Name)
		} else {
			found.Machines = append(found.Machines, i.Container.Name)
		}
	}
	controlPlane := 0
	for _, c := range containers {
		if c.Labels[kind.RoleLabel] == controlPlaneRole {
			controlPlane++
		}
	}
	found.All = controlPlane > 0 && len(found.Machines) == controlPlane
	return found, err
}

// StartAll starts what does not run, with the addresses in the files of the machines.
func (p Provider) StartAll(ctx context.Context, adjacent, again []string,
	starting func(name, address string) error) error {
	containers, err := p.containers(ctx)
	if err != nil {
		return err
	}
	c := addresses.Cluster{Engine: p.Engine, Name: p.Cluster, Containers: containers,
		Starting: func(i addresses.Item) error {
			address := ""
			if i.Wanted.IsValid() {
				address = i.Wanted.String()
			}
			return starting(i.Container.Name, address)
		}}
	for _, name := range adjacent {
		one, err := p.Engine.Inspect(ctx, name)
		if errors.Is(err, engine.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if one.Status == "created" { // who made it starts it, or another run makes it again
			continue
		}
		c.Adjacent = append(c.Adjacent, one)
	}
	return c.Bring(ctx, again)
}

// Sibling is the provider of another cluster on this engine.
func (p Provider) Sibling(cluster string) (provider.Provider, provider.AddressKeeper) {
	p.Cluster = cluster
	return p, p
}
