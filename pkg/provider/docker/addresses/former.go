package addresses

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
)

// Former finds out the addresses that the containers of one cluster must have in a network. It reads the files of
// machines, which need not run. A machine without such a file never became one of a control plane, and any address
// will do. A file that is there and has no address is an error: the machine could come up with a wrong one.
func Former(ctx context.Context, e reader, network docker.Network, containers []docker.Container) ([]Item, error) {
	var items []Item
	var own []netip.Addr
	for _, c := range containers {
		i := Item{Container: c}
		if i.isMachine() {
			var err error
			if i.Wanted, err = ownAddress(ctx, e, network, c.Name); err != nil {
				return nil, err
			}
			own = append(own, i.Wanted)
		}
		items = append(items, i)
	}
	endpoint, err := endpointOf(ctx, e, network, items, own)
	if err != nil {
		return nil, err
	}
	for n, i := range items {
		items[n].Endpoint = endpoint
		if i.Container.Labels[kind.RoleLabel] == kind.LoadBalancerRole {
			items[n].Wanted = endpoint
		}
	}
	return items, twice(items)
}

// twice refuses two containers that want one address.
func twice(items []Item) error {
	by := map[netip.Addr]string{}
	for _, i := range items {
		if other, taken := by[i.Wanted]; taken && i.Wanted.IsValid() {
			return fault.New(fault.ClusterUnreachable,
				fmt.Sprintf("the containers %s and %s both had the address %s, by what their files say", other,
					i.Container.Name, i.Wanted),
				"Start them by hand: docker start "+other+" "+i.Container.Name+".")
		}
		by[i.Wanted] = i.Container.Name
	}
	return nil
}

func ownAddress(ctx context.Context, e reader, network docker.Network, machine string) (netip.Addr, error) {
	var half []string
	for _, s := range ownSources {
		found, there, err := look(ctx, e, machine, s, network.Subnets)
		switch {
		case err != nil:
			return netip.Addr{}, err
		case !there:
		case len(found) == 1:
			return found[0], nil
		case s.always || len(found) > 1:
			half = append(half, s.file)
		}
	}
	if len(half) > 0 {
		return netip.Addr{}, fault.New(fault.ClusterUnreachable,
			fmt.Sprintf("it is not known which address machine %s had: no single address of the network %s is in %s",
				machine, network.Name, strings.Join(half, ", ")),
			"If it never was a working control plane, start it yourself: docker start "+machine+
				". Then run the same command again.")
	}
	return netip.Addr{}, nil
}

// look reads one file. there is false if the machine has none.
func look(ctx context.Context, e reader, machine string, s source, subnets []netip.Prefix) (found []netip.Addr,
	there bool, err error) {
	f, err := e.ReadFile(ctx, machine, s.file)
	switch {
	case errors.Is(err, docker.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("find out the address of machine %s: %w", machine, err)
	case !f.Regular():
		return nil, true, nil
	}
	return within(subnets, s.read(f.Content)), true, nil
}

// endpointOf returns the address of the load balancer, which differs from those of the machines. It is not valid if no
// file of a machine has it.
func endpointOf(ctx context.Context, e reader, network docker.Network, items []Item, own []netip.Addr) (netip.Addr,
	error) {
	for _, s := range endpointSources {
		var all []netip.Addr
		for _, i := range items {
			if !i.isMachine() {
				continue
			}
			found, _, err := look(ctx, e, i.Container.Name, s, network.Subnets)
			if err != nil {
				return netip.Addr{}, err
			}
			for _, a := range found {
				if !slices.Contains(own, a) && !slices.Contains(all, a) {
					all = append(all, a)
				}
			}
		}
		switch len(all) {
		case 0:
		case 1:
			return all[0], nil
		default:
			return netip.Addr{}, fault.New(fault.ClusterUnreachable, fmt.Sprintf("it is not known which address the "+
				"load balancer had: the machines have %v in %s", all, s.file),
				"Start it yourself, when the address that it had is the lowest free one: docker start "+
					balancer(items)+".")
		}
	}
	return netip.Addr{}, nil
}

func balancer(items []Item) string {
	for _, i := range items {
		if i.Container.Labels[kind.RoleLabel] == kind.LoadBalancerRole {
			return i.Container.Name
		}
	}
	return "NAME"
}
