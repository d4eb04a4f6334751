package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
)

const (
	// addressLabel marks the floating addresses on the loopback device of a machine.
	addressLabel = "lo:floating"
	// routeProtocol marks the routes on this machine: a number that is free in /etc/iproute2/rt_protos.
	routeProtocol = "149"
)

// Wire connects the registries to the cloud's networks, and leads the floating addresses to their machines: each is an
// address of its machine's loopback device, with a route to it on this machine, which is every docker network's router.
// Shared addresses are let through, as where a network of the cloud is routed: the machines answer for them.
func (e Engine) Wire(ctx context.Context, wires hypervisor.Wires) error {
	failed := []error{connectRegistries(ctx, wires.Networks, wires.Taken)}
	var all []hypervisor.Floating
	reached := slices.Clone(wires.Shared)
	for pid, floating := range wires.Machines {
		failed = append(failed, setAddresses(ctx, pid, floating))
		for _, one := range floating {
			all, reached = append(all, one), append(reached, one.Address)
		}
	}
	failed = append(failed, setRoutes(ctx, wires.Networks, all), e.setRules(ctx, len(wires.Networks) > 0, reached))
	return errors.Join(failed...)
}

// ip runs the ip command, in the network of a process unless pid is 0.
func ip(ctx context.Context, pid int, args ...string) (string, error) {
	if pid == 0 {
		return host.Run(ctx, host.Command{Name: "ip", Args: args})
	}
	enter := []string{"--target", strconv.Itoa(pid), "--net", "ip"}
	return host.Run(ctx, host.Command{Name: "nsenter", Args: append(enter, args...)})
}

// setAddresses makes the floating addresses of a machine the given ones.
func setAddresses(ctx context.Context, pid int, floating []hypervisor.Floating) error {
	out, err := ip(ctx, pid, "-4", "-json", "address", "show", "dev", "lo")
	if err != nil {
		return err
	}
	have, err := floatingAddresses(out)
	if err != nil {
		return err
	}
	var want []netip.Addr
	for _, one := range floating {
		want = append(want, one.Address)
	}
	var failed []error
	for _, address := range have {
		if !slices.Contains(want, address) {
			_, err := ip(ctx, pid, "address", "delete", address.String()+"/32", "dev", "lo")
			failed = append(failed, err)
		}
	}
	for _, address := range want {
		if !slices.Contains(have, address) {
			_, err := ip(ctx, pid, "address", "add", address.String()+"/32", "dev", "lo", "label", addressLabel)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// floatingAddresses reads the output of `ip -json address show`.
func floatingAddresses(out string) ([]netip.Addr, error) {
	var devices []struct {
		Addresses []struct{ Local, Label string } `json:"addr_info"`
	}
	if err := json.Unmarshal([]byte(out), &devices); err != nil {
		return nil, fmt.Errorf("read the addresses of a machine: %w", err)
	}
	var found []netip.Addr
	for _, device := range devices {
		for _, one := range device.Addresses {
			if address, err := netip.ParseAddr(one.Local); err == nil && one.Label == addressLabel {
				found = append(found, address)
			}
		}
	}
	return found, nil
}

// route is a line of `ip -json route show`.
type route struct {
	To     string `json:"dst"`
	Via    string `json:"gateway"`
	Bridge string `json:"dev"`
}

// setRoutes makes the routes through the bridges of the networks the ones that lead to the floating addresses.
func setRoutes(ctx context.Context, networks []string, floating []hypervisor.Floating) error {
	out, err := ip(ctx, 0, "-4", "-json", "route", "show", "proto", routeProtocol)
	if err != nil {
		return err
	}
	var have []route
	if strings.TrimSpace(out) != "" {
		if err := json.Unmarshal([]byte(out), &have); err != nil {
			return fmt.Errorf("read the routes: %w", err)
		}
	}
	var want []route
	for _, one := range floating {
		want = append(want, route{one.Address.String(), one.Fixed.String(), bridgeName(one.Network)})
	}
	var failed []error
	for _, r := range want {
		if !slices.Contains(have, r) {
			_, err := ip(ctx, 0, "route", "replace", r.To, "via", r.Via, "dev", r.Bridge, "proto", routeProtocol)
			failed = append(failed, err)
		}
	}
	for _, r := range have {
		ours := slices.ContainsFunc(networks, func(id string) bool { return bridgeName(id) == r.Bridge })
		if ours && !slices.ContainsFunc(want, func(w route) bool { return w.To == r.To }) {
			_, err := ip(ctx, 0, "route", "delete", r.To, "proto", routeProtocol)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
