package openstack

import (
	"context"

	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
)

// move gives the floating IP to a control-plane machine if no port has it.
func (a addresses) move(ctx context.Context) (machine string, err error) {
	all, err := a.project.FloatingIPs(ctx)
	if err != nil {
		return "", notAnswered("list the floating IPs", err)
	}
	_, ip, err := a.choose(all)
	if err != nil || ip == nil || ip.Port != "" {
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
	server, port := a.cluster.ControlPlanePort(has)
	if port.ID == "" {
		return "", nil
	}
	if err := a.project.Associate(ctx, ip.Resource, port); err != nil {
		return "", notAnswered("give floating IP "+ip.Name+" to server "+server.Title(), err)
	}
	return server.Title(), nil
}
