package openstack

import (
	"context"
	"slices"

	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
)

// move gives the floating IP to a control-plane machine if no port has it, or that of one of leaving.
func (a addresses) move(ctx context.Context, leaving []string) (machine string, err error) {
	all, err := a.project.FloatingIPs(ctx)
	if err != nil {
		return "", notAnswered("list the floating IPs", err)
	}
	_, ip, err := a.choose(all)
	if err != nil || ip == nil || ip.Port != "" && len(leaving) == 0 {
		return "", err
	}
	has, err := a.project.Inventory(ctx)
	if err != nil {
		return "", notAnswered("list the machines", err)
	}
	for _, kind := range []cloud.Kind{cloud.KindServer, cloud.KindPort, cloud.KindSecurityGroup} {
		if err := has.Unknown[kind]; err != nil {
			return "", notAnswered("list the machines", err)
		}
	}
	if ip.Port != "" && !isPortOf(has, ip.Port, leaving) {
		return "", nil
	}
	server, port := a.cluster.ControlPlanePort(has, leaving)
	if port.ID == "" {
		return "", nil
	}
	if err := a.project.Associate(ctx, ip.Resource, port); err != nil {
		return "", notAnswered("give floating IP "+ip.Name+" to server "+server.Title(), err)
	}
	return server.Title(), nil
}

// isPortOf reports whether a port is that of a server of those names.
func isPortOf(has cloud.Inventory, port string, servers []string) bool {
	var of cloud.Ref
	for _, r := range has.Resources {
		if r.Kind == cloud.KindPort && r.ID == port {
			of = r.PartOf
		}
	}
	return slices.ContainsFunc(has.Resources, func(r cloud.Resource) bool {
		return of.ID != "" && r.Ref == of && slices.Contains(servers, r.Name)
	})
}
