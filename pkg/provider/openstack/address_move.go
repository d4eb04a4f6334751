package openstack

import (
	"context"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
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
	has, err := a.machines(ctx)
	if err != nil {
		return "", err
	}
	if ip.Port != "" && !a.isPortOfOther(has, ip.Port, joined) {
		return "", nil
	}
	server, port := a.cluster.ControlPlanePort(has, joined)
	if port.ID == "" {
		return "", nil
	}
	if err := a.associate(ctx, *ip, server, port); err != nil {
		return "", err
	}
	return server.Title(), nil
}

// machines lists the project: all servers, ports and security groups.
func (a addresses) machines(ctx context.Context) (cloud.Inventory, error) {
	has, err := a.project.Inventory(ctx)
	if err != nil {
		return has, notAnswered("list the machines", err)
	}
	for _, kind := range []cloud.Kind{cloud.KindServer, cloud.KindPort, cloud.KindSecurityGroup} {
		if err := has.Unknown[kind]; err != nil {
			return has, notAnswered("list the machines", err)
		}
	}
	return has, nil
}

func (a addresses) associate(ctx context.Context, ip inventory.FloatingIP, server, port cloud.Resource) error {
	if err := a.project.Associate(ctx, ip.Resource, port); err != nil {
		return notAnswered("give floating IP "+ip.Name+" to server "+server.Title(), err)
	}
	return nil
}

// give associates the floating IP with the server of a control-plane machine, unless the server has it. It refuses to
// take it from a server that exists, or from a port that is not the cluster's.
func (a addresses) give(ctx context.Context, machine string) (given string, err error) {
	all, err := a.project.FloatingIPs(ctx)
	if err != nil {
		return "", notAnswered("list the floating IPs", err)
	}
	i := slices.IndexFunc(all, func(ip inventory.FloatingIP) bool { return ip.Name == a.given })
	if i < 0 {
		return "", nil
	}
	ip := all[i]
	has, err := a.machines(ctx)
	if err != nil {
		return "", err
	}
	holder := named(has, cloud.Ref{Kind: cloud.KindPort, ID: ip.Port})
	reserved := a.cluster.OwnsAddress(holder) && holder.PartOf == (cloud.Ref{})
	if reserved || holder.PartOf.Kind == cloud.KindLoadBalancer ||
		named(has, holder.PartOf).Name == machine {
		return "", nil // it leads to whichever machine answers, or to this one
	}
	server, port := a.cluster.PortOf(has, machine)
	switch {
	case port.ID == "":
		return "", fault.New(fault.CloudLacks, fmt.Sprintf("floating IP %s of the API server leads to a lost machine, "+
			"and it is not known which port of server %s is to have it", ip.Name, machine),
			"Associate it with a port of that server: openstack floating ip set --port PORT "+ip.ID+".")
	case ip.Port != "" && !a.isLeftOver(has, holder):
		return "", fault.New(fault.CloudLacks, fmt.Sprintf("floating IP %s of the API server is in use by port %s, "+
			"which a server has or which is not this cluster's", ip.Name, ip.Port),
			"Disassociate it: openstack floating ip unset --port "+ip.ID+".")
	}
	if err := a.associate(ctx, ip, server, port); err != nil {
		return "", err
	}
	return ip.Name, nil
}

// isLeftOver reports whether a port is the cluster's, and its machine is gone.
func (a addresses) isLeftOver(has cloud.Inventory, port cloud.Resource) bool {
	return port.ID != "" && a.cluster.MayOwnPort(port) && named(has, port.PartOf).ID == ""
}

// named returns the resource that a reference names; zero if the project has none.
func named(has cloud.Inventory, ref cloud.Ref) cloud.Resource {
	for _, r := range has.Resources {
		if r.Ref == ref {
			return r
		}
	}
	return cloud.Resource{}
}

// isPortOfOther reports whether a port is that of a machine of the cluster that is not one of joined.
func (a addresses) isPortOfOther(has cloud.Inventory, id string, joined []string) bool {
	port := named(has, cloud.Ref{Kind: cloud.KindPort, ID: id})
	machine := named(has, port.PartOf)
	return a.cluster.MayOwnPort(port) && machine.ID != "" && !slices.Contains(joined, machine.Name)
}
