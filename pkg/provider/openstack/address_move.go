package openstack

import (
	"context"
	"slices"

	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
)

// move gives the floating IP to a control-plane machine of joined if no port has it, or that of another machine.
func (a addresses) move(ctx context.Context, joined []string) (machine string, err error) {
	all, err := a.project.FloatingIPs(ctx)
	if err != nil {
		return "", notAnswered("list the floating IPs", err)
	}
	_, ip, err := a.choose(all)
	if err != nil || ip == nil || ip.Port != "" && joined == nil {
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
	if ip.Port != "" && !a.isPortOfOther(has, ip.Port, joined) {
		return "", nil
	}
	server, port := a.cluster.ControlPlanePort(has, joined)
	if port.ID == "" {
		return "", nil
	}
	if err := a.project.Associate(ctx, ip.Resource, port); err != nil {
		return "", notAnswered("give floating IP "+ip.Name+" to server "+server.Title(), err)
	}
	return server.Title(), nil
}

// isPortOfOther reports whether a port is that of a machine of the cluster that is not one of joined.
func (a addresses) isPortOfOther(has cloud.Inventory, id string, joined []string) bool {
	i := slices.IndexFunc(has.Resources, func(r cloud.Resource) bool {
		return r.Kind == cloud.KindPort && r.ID == id
	})
	if i < 0 || !a.cluster.MayOwnPort(has.Resources[i]) {
		return false
	}
	port := has.Resources[i]
	return slices.ContainsFunc(has.Resources, func(r cloud.Resource) bool {
		return port.PartOf.ID != "" && r.Ref == port.PartOf && !slices.Contains(joined, r.Name)
	})
}
