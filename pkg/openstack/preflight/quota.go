package preflight

import (
	"context"

	volumelimits "github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/limits"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/limits"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/quotas"
)

// What a network that is made takes beside the ports of the machines, and what the provider puts into the security
// groups that it makes (v0.14.7, pkg/cloud/services/networking/securitygroups.go): six rules for the control plane and
// ten for workers. Rules that the environment adds come on top.
const (
	dhcpPorts  = 1
	groupRules = 16
)

// share is one line of a quota.
type share struct {
	what        string
	limit, used int // limit below zero: none
	wanted      int // more than there is
	surplus     int // of one more machine
}

// quotas holds what is still to be made against what is left.
func (i *inspection) quotas(ctx context.Context) {
	var shares []share
	want, has := i.needs.Resources, i.has
	one := min(want.Servers, 1) // a machine more, while one is replaced
	if l, err := limits.Get(ctx, i.client.Compute, nil).Extract(); i.asked("quotas of compute", err) {
		a := l.Absolute
		cores, ram, moreCores, moreRAM := i.ofFlavors()
		shares = append(shares,
			share{"instances", a.MaxTotalInstances, a.TotalInstancesUsed, want.Servers - has.servers, one},
			share{"cores", a.MaxTotalCores, a.TotalCoresUsed, cores - has.cores, moreCores},
			share{"MiB of memory", a.MaxTotalRAMSize, a.TotalRAMUsed, ram - has.ram, moreRAM},
			share{"server groups", a.MaxServerGroups, a.TotalServerGroupsUsed, want.ServerGroups - has.serverGroups, 0})
	}
	if q, err := quotas.GetDetail(ctx, i.client.Network, i.client.ProjectID).Extract(); i.asked("quotas of network", err) {
		line := func(what string, d quotas.QuotaDetail, wanted, surplus int) {
			shares = append(shares, share{what, d.Limit, d.Used + d.Reserved, wanted, surplus})
		}
		line("networks", q.Network, want.Networks-has.networks, 0)
		line("subnets", q.Subnet, want.Subnets-has.subnets, 0)
		line("routers", q.Router, want.Routers-has.routers, 0)
		line("ports", q.Port, want.Ports+min(want.Networks, 1)*dhcpPorts-has.ports, one)
		line("floating IPs", q.FloatingIP, want.FloatingIPs-has.floatingIPs, 0)
		line("security groups", q.SecurityGroup, want.SecurityGroups-has.groups, 0)
		line("security group rules", q.SecurityGroupRule, min(want.SecurityGroups, 1)*groupRules-has.rules, 0)
	}
	if i.client.BlockStorage != nil && want.Volumes > 0 {
		if l, err := volumelimits.Get(ctx, i.client.BlockStorage).Extract(); i.asked("quotas of volumes", err) {
			a := l.Absolute
			shares = append(shares,
				share{"volumes", a.MaxTotalVolumes, a.TotalVolumesUsed, want.Volumes - has.volumes, one},
				share{"gigabytes of volumes", a.MaxTotalVolumeGigabytes, a.TotalGigabytesUsed, want.Gigabytes - has.volumes*i.needs.RootVolume.GiB, one * i.needs.RootVolume.GiB})
		}
	}
	for _, s := range shares {
		i.judge(s)
	}
}

// ofFlavors sums cores and MiB of memory of all machines, and those of the larger one. A flavor that was not found
// counts as nothing: that is told already.
func (i *inspection) ofFlavors() (cores, ram, moreCores, moreRAM int) {
	for n, machines := range []Machines{i.needs.ControlPlane, i.needs.Workers} {
		of := i.flavors[n]
		cores, ram = cores+machines.Count*of.cores, ram+machines.Count*of.ram
		moreCores, moreRAM = max(moreCores, of.cores), max(moreRAM, of.ram)
	}
	return cores, ram, moreCores, moreRAM
}

func (i *inspection) judge(s share) {
	left, wanted := s.limit-s.used, max(s.wanted, 0)
	switch {
	case s.limit < 0:
	case wanted > max(left, 0):
		i.lacks("Delete what nobody needs, make fewer or smaller machines, or ask who runs the cloud for a larger quota.",
			"quota of project %s: %s: %d wanted, %d left (%d of %d used)", i.client.ProjectName, s.what, wanted, max(left, 0), s.used, s.limit)
	case wanted+s.surplus > left:
		i.warn("quota of project %s: %s: %d left then, and the machine that is made first when one is replaced needs %d",
			i.client.ProjectName, s.what, left-wanted, s.surplus)
	}
}
