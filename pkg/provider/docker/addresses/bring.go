package addresses

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
)

const (
	controlPlane = "control-plane"
	// usualNetwork is the one in which Cluster API's provider looks for addresses, if a container is in several.
	usualNetwork = "kind"
)

// Cluster is a cluster of containers, and the containers next to it.
type Cluster struct {
	Engine Engine
	Name   string
	// Containers are the machines and the load balancer, in the order of their creation.
	Containers []docker.Container
	// Adjacent are the registry and the bootstrap cluster's node, if they exist. They come up with any address.
	Adjacent []docker.Container
	// Starting is called once before each container is started. Its error ends the start.
	Starting func(Item) error
}

// network is the one that the cluster's containers are in. Its name is empty if they are in no network.
func (c Cluster) network(ctx context.Context) (docker.Network, error) {
	for _, one := range c.Containers {
		if _, in := one.Networks[usualNetwork]; in {
			return networkOf(ctx, c.Engine, usualNetwork, one)
		}
		for _, name := range slices.Sorted(maps.Keys(one.Networks)) {
			return networkOf(ctx, c.Engine, name, one)
		}
	}
	return docker.Network{}, nil
}

// Misplaced returns the load balancer and the control-plane machines that run with another address than the one that
// the cluster knows them by.
func (c Cluster) Misplaced(ctx context.Context) (found []Item, err error) {
	n, err := c.network(ctx)
	if err != nil || n.Name == "" {
		return nil, err
	}
	worker := func(one docker.Container) bool {
		return (Item{Container: one}).isMachine() && one.Labels[kind.RoleLabel] != controlPlane
	}
	items, err := Former(ctx, c.Engine, n, slices.DeleteFunc(slices.Clone(c.Containers), worker))
	for _, i := range items {
		if i.Misplaced(n.Name) {
			found = append(found, i)
		}
	}
	return found, err
}

// Bring starts the containers that do not run. It first stops those of again, which run, and those of the cluster
// whose address a stopped one needs.
func (c Cluster) Bring(ctx context.Context, again []string) error {
	n, err := c.network(ctx)
	if err != nil {
		return err
	}
	if n.Name == "" {
		return c.startAnywhere(ctx)
	}
	items, err := Former(ctx, c.Engine, n, c.Containers)
	if err != nil {
		return err
	}
	if items, err = c.withAdjacent(ctx, n, items); err != nil {
		return err
	}
	start, err := c.toStart(ctx, n, items, again)
	if err != nil || len(start) == 0 {
		return err
	}
	reserved, err := c.reserved(ctx, n, items)
	if err != nil {
		return err
	}
	for _, i := range start {
		if i.isMachine() && c.has(i.Container.Name) {
			if err := protect(ctx, c.Engine, i); err != nil {
				return err
			}
		}
	}
	starter := &Starter{Engine: c.Engine, Network: n.Name, Cluster: c.Name, Image: c.image(), Reserved: reserved,
		Starting: c.Starting, Started: c.certify}
	return starter.Start(ctx, start)
}

// certify repairs the certificate of a control-plane machine as soon as it runs: a later run would leave it alone.
func (c Cluster) certify(ctx context.Context, i Item) error {
	if i.Container.Labels[kind.RoleLabel] != controlPlane || !c.has(i.Container.Name) || !i.Wanted.IsValid() {
		return nil
	}
	return certify(ctx, c.Engine, i)
}

// startAnywhere starts what does not run, with any address: no container of the cluster is in a network.
func (c Cluster) startAnywhere(ctx context.Context) error {
	for _, one := range slices.Concat(c.Adjacent, c.Containers) {
		if !Stopped(one) {
			continue
		}
		if err := c.Starting(Item{Container: one}); err != nil {
			return err
		}
		if err := c.Engine.Start(ctx, one.Name); err != nil {
			return fault.Wrap(err, fault.ClusterUnreachable, "See why: docker logs "+one.Name)
		}
	}
	return nil
}

// withAdjacent adds the containers next to the cluster, before it. The bootstrap cluster's node keeps its address if it
// can.
func (c Cluster) withAdjacent(ctx context.Context, n docker.Network, items []Item) ([]Item, error) {
	var all []Item
	for _, one := range c.Adjacent {
		i := Item{Container: one, Yields: true}
		if i.isMachine() {
			wanted, err := ownAddress(ctx, c.Engine, n, one.Name)
			if err != nil {
				return nil, err
			}
			other := func(o Item) bool { return o.Wanted == wanted }
			if !slices.ContainsFunc(items, other) {
				i.Wanted = wanted
			}
		}
		all = append(all, i)
	}
	return append(all, items...), nil
}

// toStart returns what does not run, and stops what must be started again.
func (c Cluster) toStart(ctx context.Context, n docker.Network, items []Item, again []string) ([]Item, error) {
	start := map[string]bool{}
	needed := map[netip.Addr]bool{}
	for _, i := range items {
		if Stopped(i.Container) || slices.Contains(again, i.Container.Name) {
			start[i.Container.Name] = true
			needed[i.Wanted] = i.Wanted.IsValid() && !i.Yields
		}
	}
	for changed := true; changed; {
		changed = false
		for _, i := range items {
			has := addressIn(i.Container, n.Name)
			if i.Container.Status == "paused" {
				continue
			}
			if !start[i.Container.Name] && needed[has] && has != i.Wanted {
				start[i.Container.Name], changed = true, true
				needed[i.Wanted] = i.Wanted.IsValid() && !i.Yields
			}
		}
	}
	for _, i := range items { // before any is stopped
		holder, held := n.Attached[i.Wanted]
		if held && start[i.Container.Name] && !start[holder] && !i.Yields &&
			!strings.HasPrefix(holder, holdName(c.Name)) {
			return nil, i.heldBy(n.Name, holder)
		}
	}
	var found []Item
	for _, i := range items {
		if !start[i.Container.Name] {
			continue
		}
		if !Stopped(i.Container) {
			if err := c.Engine.Stop(ctx, i.Container.Name); err != nil {
				return nil, err
			}
			i.Container.Running = false
		}
		found = append(found, i)
	}
	return found, nil
}

// reserved returns the addresses that stopped containers of other clusters in the network need. What cannot be found
// out of them is theirs to repair.
func (c Cluster) reserved(ctx context.Context, n docker.Network, own []Item) ([]netip.Addr, error) {
	names, err := c.Engine.Containers(ctx, docker.Filter{Network: n.ID, Labels: []string{kind.ClusterLabel}})
	if err != nil {
		return nil, err
	}
	others := map[string][]docker.Container{}
	for _, name := range names {
		if slices.ContainsFunc(own, func(i Item) bool { return i.Container.Name == name }) {
			continue
		}
		one, err := c.Engine.Inspect(ctx, name)
		if errors.Is(err, docker.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		cluster := one.Labels[kind.ClusterLabel]
		others[cluster] = append(others[cluster], one)
	}
	var wanted []netip.Addr
	for _, containers := range others {
		items, err := Former(ctx, c.Engine, n, containers)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		for _, i := range items {
			if i.Wanted.IsValid() && Stopped(i.Container) {
				wanted = append(wanted, i.Wanted)
			}
		}
	}
	return wanted, nil
}

func (c Cluster) has(name string) bool {
	return slices.ContainsFunc(c.Containers, func(one docker.Container) bool { return one.Name == name })
}

// image is that of a machine: the load balancer's may have no program but its own.
func (c Cluster) image() string {
	for _, one := range slices.Concat(c.Containers, c.Adjacent) {
		if (Item{Container: one}).isMachine() {
			return one.ImageID
		}
	}
	return c.Containers[0].ImageID
}
