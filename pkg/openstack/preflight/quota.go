package preflight

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// What a new network needs in addition to the ports of the machines, and the rules that the provider puts into its
// security groups (v0.14.7, pkg/cloud/services/networking/securitygroups.go): six for the control plane and ten for
// workers. Rules that the environment adds are extra.
const (
	dhcpPorts  = 1
	groupRules = 16
)

// need is what the environment needs of one quota.
type need struct {
	wanted  int // more than exists
	surplus int // for one more machine
}

// quotas compares what is still to be created with what is left.
func (i *inspection) quotas(ctx context.Context) {
	needs := i.quotaNeeds()
	judge := func(of string, read func(context.Context) ([]openstack.Quota, error)) {
		list, err := read(ctx)
		if !i.asked("quotas of "+of, err) {
			return
		}
		for _, q := range list {
			if need, counts := needs[q.What]; counts {
				i.judge(q, need)
			}
		}
	}
	judge("compute", i.client.ComputeQuotas)
	judge("network", i.client.NetworkQuotas)
	if i.needs.Resources.Volumes > 0 {
		judge("volumes", i.client.VolumeQuotas)
	}
}

// quotaNeeds is what is still to be created, by its quota.
func (i *inspection) quotaNeeds() map[string]need {
	want, has := i.needs.Resources, i.has
	one := min(want.Servers, 1) // a machine more, while one is replaced
	cores, ram, moreCores, moreRAM := i.ofFlavors()
	return map[string]need{
		openstack.QuotaInstances:          {want.Servers - has.servers, one},
		openstack.QuotaCores:              {cores - has.cores, moreCores},
		openstack.QuotaMemory:             {ram - has.ram, moreRAM},
		openstack.QuotaServerGroups:       {want.ServerGroups - has.serverGroups, 0},
		openstack.QuotaNetworks:           {want.Networks - has.networks, 0},
		openstack.QuotaSubnets:            {want.Subnets - has.subnets, 0},
		openstack.QuotaRouters:            {want.Routers - has.routers, 0},
		openstack.QuotaPorts:              {want.Ports + min(want.Networks, 1)*dhcpPorts - has.ports, one},
		openstack.QuotaFloatingIPs:        {want.FloatingIPs - has.floatingIPs, 0},
		openstack.QuotaSecurityGroups:     {want.SecurityGroups - has.groups, 0},
		openstack.QuotaSecurityGroupRules: {min(want.SecurityGroups, 1)*groupRules - has.rules, 0},
		openstack.QuotaVolumes:            {want.Volumes - has.volumes, one},
		openstack.QuotaGigabytes: {want.Gigabytes - has.volumes*i.needs.RootVolume.GiB,
			one * i.needs.RootVolume.GiB},
	}
}

// ofFlavors returns the cores and MiB of memory of all machines, and the larger ones of all roles. A missing flavor
// counts as nothing: it is reported already.
func (i *inspection) ofFlavors() (cores, ram, moreCores, moreRAM int) {
	for n, machines := range i.needs.machines() {
		if n >= len(i.flavors) {
			break // they could not be listed
		}
		of := i.flavors[n]
		cores, ram = cores+machines.Count*of.cores, ram+machines.Count*of.ram
		moreCores, moreRAM = max(moreCores, of.cores), max(moreRAM, of.ram)
	}
	return cores, ram, moreCores, moreRAM
}

func (i *inspection) judge(q openstack.Quota, n need) {
	left, wanted := q.Limit-q.Used, max(n.wanted, 0)
	switch {
	case q.Limit < 0:
	case wanted > max(left, 0):
		i.problem(
			"Delete unused resources, use fewer or smaller machines, or ask the operator of the cloud for a larger "+
				"quota.",
			"quota of project %s: %s: %d wanted, %d left (%d of %d used)", i.client.ProjectName, q.What, wanted,
			max(left, 0), q.Used, q.Limit)
	case wanted+n.surplus > left:
		i.warn(
			"quota of project %s: %s: %d left then, and the machine that is made first when one is replaced needs %d",
			i.client.ProjectName, q.What, left-wanted, n.surplus)
	}
}
