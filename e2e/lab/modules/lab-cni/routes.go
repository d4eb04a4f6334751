package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
)

// owner marks the routes of this program (rtm_protocol), so that it never touches others.
const owner = 108

// setRoutes makes the routes of this program exactly those wanted: destination network to gateway address.
func setRoutes(wanted map[string]string) error {
	current, err := netlink.RouteListFiltered(netlink.FAMILY_V4, &netlink.Route{Protocol: owner},
		netlink.RT_FILTER_PROTOCOL)
	if err != nil {
		return fmt.Errorf("list the routes: %w", err)
	}
	var failures []error
	for _, route := range current {
		if _, keep := wanted[route.Dst.String()]; keep {
			continue
		}
		if err := netlink.RouteDel(&route); err != nil {
			failures = append(failures, fmt.Errorf("remove the route to %s: %w", route.Dst, err))
		}
	}
	for destination, gateway := range wanted {
		if err := setRoute(destination, gateway); err != nil {
			failures = append(failures, fmt.Errorf("set the route to %s by %s: %w", destination, gateway, err))
		}
	}
	return errors.Join(failures...)
}

// setRoute adds or replaces one route.
func setRoute(destination, gateway string) error {
	_, network, err := net.ParseCIDR(destination)
	if err != nil {
		return err
	}
	address := net.ParseIP(gateway)
	if address == nil {
		return fmt.Errorf("%q is no address", gateway)
	}
	return netlink.RouteReplace(&netlink.Route{Dst: network, Gw: address, Protocol: owner})
}
