// Package hypervisor is the machine room below nova's fake compute driver: each server of an image of the lab becomes a
// container that boots with the server's own user-data, has its fixed addresses, and goes when the server goes. So does
// each load balancer of octavia that has members become a container with haproxy.
//
// It keeps nothing: all that it does follows from what the cloud's API says and from the labels of what exists in the
// Docker engine. So it may be killed at any time and started again.
package hypervisor

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/drive"
)

const (
	// shortestPeriod and longestPeriod bound the pause between two looks at the cloud. Each look costs its services
	// about 0.1 s of computing, and ten times that on a machine that is busy or slow.
	shortestPeriod, longestPeriod = 2 * time.Second, 10 * time.Second
	// lookTime bounds one look at the cloud and at the engine.
	lookTime = 30 * time.Second
	// workTime bounds what is done for one machine, network, or for the addresses.
	workTime = 2 * time.Minute
)

// cloud is what is asked of OpenStack's services. An error never means that something does not exist.
type cloud interface {
	// State returns all servers and load balancers, of all projects, and the networks that they are in.
	State(ctx context.Context) (State, error)
	// ImageOf returns the name of the image that a server was made of; empty when there is no such image any more.
	ImageOf(ctx context.Context, server Server) (string, error)
	// Gone reports whether the API denies that there is such a server.
	Gone(ctx context.Context, server string) (bool, error)
	// BalancerGone reports whether the API denies that there is such a load balancer.
	BalancerGone(ctx context.Context, balancer string) (bool, error)
	// Drive returns what a server finds on its config drive. It is secret.
	Drive(ctx context.Context, server string) (drive.Content, error)
}

// engine is what is done in the Docker engine and in this machine's network. All of it may be done again.
type engine interface {
	// World returns what exists of this cloud.
	World(ctx context.Context) (World, error)
	// Make starts a container that has never run before. A half made one is left when it fails.
	Make(ctx context.Context, machine Machine, content drive.Content) error
	// MakeProxy starts a container that does what a load balancer does. A half made one is left when it fails.
	MakeProxy(ctx context.Context, proxy Proxy) error
	// Configure gives a proxy that runs another configuration. Connections stay.
	Configure(ctx context.Context, container Container, configuration string) error
	// Remove removes a container with its volumes.
	Remove(ctx context.Context, container Container) error
	// Power starts or stops a container that was made before.
	Power(ctx context.Context, container Container, on bool) error
	// Console shows the cloud what a container that runs has said.
	Console(ctx context.Context, container Container) error
	// MakeNetwork makes the docker network that stands for a neutron network.
	MakeNetwork(ctx context.Context, network Network) error
	// RemoveNetwork disconnects what is not of this cloud and removes the network.
	RemoveNetwork(ctx context.Context, id string) error
	// Wire makes the registries and the addresses reachable that are named, and no other.
	Wire(ctx context.Context, wires Wires) error
}

// Bridge makes containers of servers.
type Bridge struct {
	cloud  cloud
	engine engine
	images []string // servers of other images stay paper
	report *report
	pause  *pause
	// configured are the configurations that this process has given to proxies, by load balancer.
	configured map[string]string
}

// New returns a bridge for the servers that were made of the images of those names. say hears what is done and, once,
// what fails.
func New(cloud cloud, engine engine, images []string, say func(format string, args ...any)) *Bridge {
	return &Bridge{cloud: cloud, engine: engine, images: images, report: newReport(say), pause: newPause(time.Now),
		configured: map[string]string{}}
}

// period returns the pause after an observation that took so long: observations may take a tenth of the time, so that
// the cloud has the rest for its users.
func period(took time.Duration) time.Duration {
	return min(max(10*took, shortestPeriod), longestPeriod)
}

// Run makes the world equal again and again, until ctx ends. It leaves all as it is then.
func (b *Bridge) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := time.Now()
		b.Reconcile(ctx)
		timer.Reset(period(time.Since(began)))
	}
}
