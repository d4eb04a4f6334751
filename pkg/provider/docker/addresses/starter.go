package addresses

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	// mostHolds bounds how many addresses are held: each takes a part of a second.
	mostHolds = 250
	// mostMisses bounds how often one container may get another address than the one that was free a moment before.
	mostMisses = 5
	// holdSeconds is after how long a container that holds an address ends by itself, and is removed, if this run was
	// killed.
	holdSeconds  = "600"
	releaseBound = 30 * time.Second
)

// Starter starts containers, each with its wanted address. An engine does not take an address as an argument where a
// network has no configured subnet. So Starter first starts a placeholder, a container that sleeps. Its address is the
// one that the engine gives next. A placeholder keeps an unwanted address until all containers are started.
type Starter struct {
	Engine  Engine
	Network string // by name
	Cluster string // whose containers they are
	// Image is that of a machine, which has the program sleep.
	Image string
	// Reserved are wanted by containers that are started later.
	Reserved []netip.Addr
	// Starting is called once before each container is started. Its error ends the start.
	Starting func(Item) error
	// Started is called after each start with the right address. Its error ends the start. Nil means nothing to do.
	Started func(context.Context, Item) error

	pending []Item
	begun   map[string]bool
	misses  map[string]int
	holds   []string // IDs
}

// Start starts items. It removes what held an address in every case.
func (s *Starter) Start(ctx context.Context, items []Item) (err error) {
	s.begun, s.misses = map[string]bool{}, map[string]int{}
	s.pending = slices.Clone(items)
	if err := s.removeLeft(ctx); err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseBound)
		defer cancel()
		err = errors.Join(err, s.Engine.Remove(bounded, s.holds...))
	}()
	for len(s.pending) > 0 {
		if err := s.checkHolders(ctx); err != nil {
			return err
		}
		if !s.anyWanted() && len(s.Reserved) == 0 {
			if err := s.start(ctx, s.pending[0]); err != nil {
				return err
			}
			continue
		}
		if err := s.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// next finds out which address the engine gives next, and starts the container that it is for.
func (s *Starter) next(ctx context.Context) error {
	id, address, err := s.hold(ctx)
	if err != nil {
		return err
	}
	item, found := s.fits(address)
	if !found {
		if len(s.holds) >= mostHolds {
			return fault.New(fault.ClusterUnreachable, fmt.Sprintf("the Docker engine does not give the address %s to "+
				"container %s: it gave %d others", s.pending[0].Wanted, s.pending[0].Container.Name, len(s.holds)),
				"Stop the containers that are not needed on this machine, and run the same command again.")
		}
		return nil
	}
	if err := s.Engine.Remove(ctx, id); err != nil {
		return err
	}
	s.holds = s.holds[:len(s.holds)-1]
	return s.start(ctx, item)
}

// holdName is what the names of containers begin with that hold an address.
func holdName(cluster string) string { return cluster + "-address-" }

// hold starts a container that takes the next address.
func (s *Starter) hold(ctx context.Context) (id string, address netip.Addr, err error) {
	id, err = s.Engine.Run(ctx, docker.RunOptions{
		Name: fmt.Sprintf("%s%d", holdName(s.Cluster), len(s.holds)+1), Image: s.Image, Entrypoint: "sleep",
		Args: []string{holdSeconds}, Network: s.Network, Hardened: true, Ephemeral: true,
		Labels: map[string]string{owned.ClusterLabel: s.Cluster, owned.HoldsLabel: "true"},
	})
	if err != nil {
		return "", netip.Addr{}, fmt.Errorf("hold an address of the network %s: %w", s.Network, err)
	}
	s.holds = append(s.holds, id)
	c, err := s.Engine.Inspect(ctx, id)
	if err != nil {
		return "", netip.Addr{}, fmt.Errorf("hold an address of the network %s: %w", s.Network, err)
	}
	if address = addressIn(c, s.Network); !address.IsValid() {
		return "", netip.Addr{}, fault.New(fault.DockerFailed, fmt.Sprintf("container %s has no address in the network %s",
			c.Name, s.Network), "See why: docker logs "+c.Name)
	}
	return id, address, nil
}

// fits returns the pending container that an address is for: the one that wants it, or the first that takes any.
func (s *Starter) fits(address netip.Addr) (Item, bool) {
	for _, i := range s.pending {
		if i.Wanted == address {
			return i, true
		}
	}
	if slices.Contains(s.Reserved, address) {
		return Item{}, false
	}
	for _, i := range s.pending {
		if !i.Wanted.IsValid() {
			return i, true
		}
	}
	return Item{}, false
}

// start starts a container and compares its address. With a wrong one it is stopped, and stays pending.
func (s *Starter) start(ctx context.Context, item Item) error {
	name := item.Container.Name
	if !s.begun[name] && s.Starting != nil {
		if err := s.Starting(item); err != nil {
			return err
		}
	}
	s.begun[name] = true
	if err := s.Engine.Start(ctx, name); err != nil {
		return fault.Wrap(err, fault.ClusterUnreachable, "See why: docker logs "+name)
	}
	now, err := s.Engine.Inspect(ctx, name)
	if err != nil {
		return err
	}
	got := addressIn(now, s.Network)
	if got.IsValid() && !s.mayHave(item, got) {
		return s.stopAgain(ctx, item, got)
	}
	s.pending = slices.DeleteFunc(s.pending, func(i Item) bool { return i.Container.Name == name })
	if s.Started != nil {
		return s.Started(ctx, item)
	}
	return nil
}

func (s *Starter) mayHave(item Item, got netip.Addr) bool {
	if item.Wanted.IsValid() {
		return got == item.Wanted
	}
	other := func(i Item) bool { return i.Wanted == got }
	return !slices.Contains(s.Reserved, got) && !slices.ContainsFunc(s.pending, other)
}

// stopAgain stops a container that another one was faster than.
func (s *Starter) stopAgain(ctx context.Context, item Item, got netip.Addr) error {
	name := item.Container.Name
	if err := s.Engine.Stop(ctx, name); err != nil {
		return err
	}
	if s.misses[name]++; s.misses[name] < mostMisses {
		return nil
	}
	return fault.New(fault.ClusterUnreachable, fmt.Sprintf("container %s got the address %s from the Docker engine %d "+
		"times, and is stopped: it needs %s", name, got, mostMisses, item.describe()),
		"When no other containers are started on this machine, run the same command again.")
}

func (i Item) describe() string {
	if i.Wanted.IsValid() {
		return i.Wanted.String()
	}
	return "one that no other container needs"
}

func (s *Starter) anyWanted() bool {
	return slices.ContainsFunc(s.pending, func(i Item) bool { return i.Wanted.IsValid() })
}

// checkHolders refuses if another container has a wanted address. One that yields takes any other then.
func (s *Starter) checkHolders(ctx context.Context) error {
	n, err := networkOf(ctx, s.Engine, s.Network, s.pending[0].Container)
	if err != nil {
		return err
	}
	for index, i := range s.pending {
		holder, held := n.Attached[i.Wanted]
		switch {
		case !held:
		case i.Yields:
			s.pending[index].Wanted = netip.Addr{}
		default:
			return i.heldBy(s.Network, holder)
		}
	}
	return nil
}

// heldBy is the refusal of a start because another container has the wanted address.
func (i Item) heldBy(network, holder string) error {
	return fault.New(fault.ClusterUnreachable, fmt.Sprintf("container %s cannot be started: it needs the address %s "+
		"of the network %s, which container %s has", i.Container.Name, i.Wanted, network, holder),
		"Stop that container, and run the same command again: docker stop "+holder+
			". Then it can be started again, and gets another address.")
}

// removeLeft removes what a killed run left.
func (s *Starter) removeLeft(ctx context.Context) error {
	left, err := s.Engine.Containers(ctx, docker.Filter{Labels: []string{owned.ClusterLabel + "=" + s.Cluster,
		owned.HoldsLabel}})
	if err != nil {
		return err
	}
	return s.Engine.Remove(ctx, left...)
}

// networkOf returns the network of a name that a container is in.
func networkOf(ctx context.Context, e Engine, name string, c docker.Container) (docker.Network, error) {
	networks, err := e.Networks(ctx, name)
	if err != nil {
		return docker.Network{}, err
	}
	var ids []string
	for _, n := range networks {
		if n.ID == c.Networks[name].NetworkID || len(networks) == 1 {
			return n, nil
		}
		ids = append(ids, n.ID)
	}
	return docker.Network{}, fault.New(fault.DockerFailed, fmt.Sprintf("container %s is in the network %s, and the "+
		"Docker engine has %d networks of that name: %s", c.Name, name, len(networks), strings.Join(ids, ", ")), "")
}
