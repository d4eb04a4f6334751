package hypervisor

import (
	"context"
	"slices"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/proxy"
)

// LoadBalancer is what octavia says of a load balancer.
type LoadBalancer struct {
	ID, Name  string
	Port      string // identifier of the port that has its address
	Listeners []proxy.Listener
}

// Proxy is a container to be made of a load balancer.
type Proxy struct {
	Balancer, Name string // identifier and name of the load balancer
	Link           Link
	Configuration  string
}

// hasMembers reports whether the load balancer has anything to pass connections on to.
func (l LoadBalancer) hasMembers() bool {
	return slices.ContainsFunc(l.Listeners, func(one proxy.Listener) bool { return len(one.Members) > 0 })
}

func (s State) balancer(id string) *LoadBalancer {
	i := slices.IndexFunc(s.Balancers, func(l LoadBalancer) bool { return l.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Balancers[i]
}

// place returns the network and the address of a load balancer.
func (s State) place(balancer LoadBalancer) (Link, error) {
	i := slices.IndexFunc(s.Ports, func(p Port) bool { return p.ID == balancer.Port })
	if i < 0 || len(s.Ports[i].Addresses) == 0 || s.network(s.Ports[i].Network) == nil {
		return Link{}, errNoAddress
	}
	return Link{Network: s.Ports[i].Network, Address: s.Ports[i].Addresses[0]}, nil
}

func (w World) proxy(balancer string) *Container {
	i := slices.IndexFunc(w.Proxies, func(c Container) bool { return c.Balancer == balancer })
	if i < 0 {
		return nil
	}
	return &w.Proxies[i]
}

// balance removes the proxies of load balancers that are gone, and makes those of the others what the cloud says.
func (b *Bridge) balance(ctx context.Context, state State, world World) {
	for _, container := range world.Proxies {
		if state.balancer(container.Balancer) == nil {
			b.report.failed(ctx, "container "+container.Name, b.removeProxy(ctx, container))
		}
	}
	for _, balancer := range state.Balancers {
		if b.pause.waiting(balancer.ID) {
			continue
		}
		err := b.serveBalancer(ctx, state, world.proxy(balancer.ID), balancer)
		b.pause.after(balancer.ID, err)
		b.report.failed(ctx, "load balancer "+balancer.Name+" "+balancer.ID, err)
	}
}

// removeProxy removes a proxy unless octavia still has its load balancer, although it did not list it.
func (b *Bridge) removeProxy(ctx context.Context, container Container) error {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	gone, err := b.cloud.BalancerGone(ctx, container.Balancer)
	if err != nil || !gone {
		return err
	}
	if err := b.engine.Remove(ctx, container); err != nil {
		return err
	}
	delete(b.configured, container.Balancer)
	b.report.say("removed container %s: its load balancer is gone", container.Name)
	return nil
}

// serveBalancer makes the proxy of a load balancer when it gets its first member. Before that nobody needs it, and
// another docker network may have the same subnet.
func (b *Bridge) serveBalancer(ctx context.Context, state State, container *Container, balancer LoadBalancer) error {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	configuration := proxy.Configuration(balancer.Listeners)
	if container != nil && container.Status == "created" { // half made
		if err := b.engine.Remove(ctx, *container); err != nil {
			return err
		}
		container = nil
	}
	switch {
	case container == nil && balancer.hasMembers():
		return b.makeProxy(ctx, state, balancer, configuration)
	case container == nil:
		return nil
	case container.Status == "exited":
		b.report.say("starting container %s of a load balancer", container.Name)
		return b.engine.Power(ctx, *container, true)
	case b.configured[balancer.ID] != configuration: // or not known, after a start of the bridge
		if err := b.engine.Configure(ctx, *container, configuration); err != nil {
			return err
		}
		b.configured[balancer.ID] = configuration
	}
	return nil
}

func (b *Bridge) makeProxy(ctx context.Context, state State, balancer LoadBalancer, configuration string) error {
	link, err := state.place(balancer)
	if err != nil {
		return err
	}
	if err := b.engine.MakeNetwork(ctx, *state.network(link.Network)); err != nil {
		return err
	}
	made := Proxy{Balancer: balancer.ID, Name: balancer.Name, Link: link, Configuration: configuration}
	if err := b.engine.MakeProxy(ctx, made); err != nil {
		return err
	}
	b.configured[balancer.ID] = configuration
	b.report.say("load balancer %s answers at %s", balancer.Name, link.Address)
	return nil
}
