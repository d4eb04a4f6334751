// Package addresses starts containers of a cluster with the addresses that the cluster knows them by. Docker gives out
// addresses in the order of the starts, and a control plane does not come up with another one than it was made with.
package addresses

import (
	"context"
	"net/netip"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
)

// Engine is the part of the Docker engine that is needed.
type Engine interface {
	reader
	Containers(context.Context, docker.Filter) ([]string, error)
	Networks(context.Context, string) ([]docker.Network, error)
	Run(context.Context, docker.RunOptions) (string, error)
	Start(context.Context, string) error
	Stop(context.Context, string) error
	Remove(context.Context, ...string) error
	WriteFile(ctx context.Context, container, folder string, f docker.File) error
	Exec(ctx context.Context, container string, args []string, o docker.ExecOptions) error
}

// reader is what is needed to find out addresses. It changes nothing.
type reader interface {
	Inspect(context.Context, string) (docker.Container, error)
	ReadFile(ctx context.Context, container, name string) (docker.File, error)
}

// Item is a container of a cluster, and the address that it must have.
type Item struct {
	Container docker.Container
	// Wanted is not valid if no file has an address of the container: then the container may have any.
	Wanted netip.Addr
	// Yields reports that the container comes up with another address, too, if the wanted one is taken.
	Yields bool
	// Endpoint is the address of the cluster's load balancer. It is not valid if it is not known.
	Endpoint netip.Addr
}

// Misplaced reports whether the container runs with another address than the wanted one.
func (i Item) Misplaced(network string) bool {
	has := addressIn(i.Container, network)
	return i.Wanted.IsValid() && has.IsValid() && has != i.Wanted && !i.Yields
}

// isMachine reports whether the container is a machine: neither a registry nor a load balancer.
func (i Item) isMachine() bool {
	role := i.Container.Labels[kind.RoleLabel]
	return role != "" && role != kind.LoadBalancerRole
}

// Stopped reports whether a container can be started.
func Stopped(c docker.Container) bool { return !c.Running && c.Status != "removing" }

// addressIn returns the IPv4 address of a running container in a network.
func addressIn(c docker.Container, network string) netip.Addr {
	address, err := netip.ParseAddr(c.Networks[network].IPv4)
	if err != nil || !c.Running {
		return netip.Addr{}
	}
	return address
}
