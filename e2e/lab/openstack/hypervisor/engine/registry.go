package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// isRegistry knows the container of an environment's registry by its name.
func isRegistry(container string) bool {
	return strings.HasSuffix(container, owned.Registry(""))
}

// registries returns the names of the containers of all environments' registries. In the lab they stand for the site's
// own: machines pull images from them by name.
func registries(ctx context.Context) ([]string, error) {
	out, err := docker(ctx, "container", "ls", "--filter", "label="+owned.ClusterLabel,
		"--format", `{{.Names}} {{.Label "`+owned.ClusterLabel+`"}}`)
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(out) {
		name, environment, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == owned.Registry(environment) {
			found = append(found, name)
		}
	}
	return found, nil
}

// connectRegistries gives each registry a place in each network, at an address that neutron has not given away: docker
// would take the first free one, which is the next server's.
func connectRegistries(ctx context.Context, networks []string, taken map[string][]netip.Addr) error {
	if len(networks) == 0 {
		return nil
	}
	names, err := registries(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for _, id := range networks {
		if err := connectTo(ctx, id, names, taken[id]); err != nil {
			failed = append(failed, fmt.Errorf("connect the registries to network %s: %w", id, err))
		}
	}
	return errors.Join(failed...)
}

func connectTo(ctx context.Context, id string, names []string, taken []netip.Addr) error {
	network, err := inspectNetwork(ctx, id)
	if err != nil {
		return err
	}
	taken = slices.Clone(taken)
	at := map[string]netip.Addr{} // of the registries that have a place
	for _, place := range network.Containers {
		prefix, err := netip.ParsePrefix(place.IPv4Address)
		if err != nil {
			continue
		}
		if !slices.Contains(names, place.Name) {
			taken = append(taken, prefix.Addr())
		} else if at[place.Name] = prefix.Addr(); slices.Contains(taken, prefix.Addr()) {
			if _, err := docker(ctx, "network", "disconnect", "--force", networkName(id), place.Name); err != nil {
				return err
			}
			delete(at, place.Name)
		}
	}
	for _, name := range names {
		if at[name].IsValid() {
			taken = append(taken, at[name])
		}
	}
	for _, name := range names {
		if at[name].IsValid() {
			continue
		}
		address, err := freeAddress(network, taken)
		if err != nil {
			return err
		}
		if _, err := docker(ctx, "network", "connect", "--ip", address.String(), networkName(id), name); err != nil {
			return err
		}
		taken = append(taken, address)
	}
	return nil
}

// freeAddress returns the highest address that is not taken.
func freeAddress(network attached, taken []netip.Addr) (netip.Addr, error) {
	if len(network.IPAM.Config) == 0 {
		return netip.Addr{}, errors.New("it has no subnet")
	}
	subnet, err := netip.ParsePrefix(network.IPAM.Config[0].Subnet)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("its subnet: %w", err)
	}
	for address := lastAddress(subnet); subnet.Contains(address) &&
		address != subnet.Masked().Addr(); address = address.Prev() {
		if !slices.Contains(taken, address) {
			return address, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("no address of %s is free", subnet)
}
