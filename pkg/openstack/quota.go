package openstack

import (
	"context"
	"fmt"

	volumelimits "github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/limits"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/limits"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/quotas"
)

// The resources with quotas.
const (
	QuotaInstances          = "instances"
	QuotaCores              = "cores"
	QuotaMemory             = "MiB of memory"
	QuotaServerGroups       = "server groups"
	QuotaNetworks           = "networks"
	QuotaSubnets            = "subnets"
	QuotaRouters            = "routers"
	QuotaPorts              = "ports"
	QuotaFloatingIPs        = "floating IPs"
	QuotaSecurityGroups     = "security groups"
	QuotaSecurityGroupRules = "security group rules"
	QuotaVolumes            = "volumes"
	QuotaGigabytes          = "gigabytes of volumes"
)

// Quota is how much of a resource the project may have, and has. A negative limit means unlimited.
type Quota struct {
	What        string
	Limit, Used int
}

// ComputeQuotas reads Nova's quotas of the project. Its error is the API's own.
func (c *Client) ComputeQuotas(ctx context.Context) ([]Quota, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	l, err := Whole(limits.Get(ctx, c.Compute, nil).Extract())
	if err != nil {
		return nil, err
	}
	a := l.Absolute
	return []Quota{
		{QuotaInstances, a.MaxTotalInstances, a.TotalInstancesUsed},
		{QuotaCores, a.MaxTotalCores, a.TotalCoresUsed},
		{QuotaMemory, a.MaxTotalRAMSize, a.TotalRAMUsed},
		{QuotaServerGroups, a.MaxServerGroups, a.TotalServerGroupsUsed},
	}, nil
}

// NetworkQuotas reads Neutron's quotas of the project. Reservations of running requests count as used. Its error is the
// API's own.
func (c *Client) NetworkQuotas(ctx context.Context) ([]Quota, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	q, err := Whole(quotas.GetDetail(ctx, c.Network, c.ProjectID).Extract())
	if err != nil {
		return nil, err
	}
	of := func(what string, d quotas.QuotaDetail) Quota { return Quota{what, d.Limit, d.Used + d.Reserved} }
	return []Quota{
		of(QuotaNetworks, q.Network), of(QuotaSubnets, q.Subnet), of(QuotaRouters, q.Router), of(QuotaPorts, q.Port),
		of(QuotaFloatingIPs, q.FloatingIP), of(QuotaSecurityGroups, q.SecurityGroup),
		of(QuotaSecurityGroupRules, q.SecurityGroupRule),
	}, nil
}

// VolumeQuotas reads Cinder's quotas of the project. A cloud without volumes has none. Its error is the API's own.
func (c *Client) VolumeQuotas(ctx context.Context) ([]Quota, error) {
	if c.BlockStorage == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	l, err := Whole(volumelimits.Get(ctx, c.BlockStorage).Extract())
	if err != nil {
		return nil, err
	}
	a := l.Absolute
	return []Quota{
		{QuotaVolumes, a.MaxTotalVolumes, a.TotalVolumesUsed},
		{QuotaGigabytes, a.MaxTotalVolumeGigabytes, a.TotalGigabytesUsed},
	}, nil
}

// UsedUp returns the exhausted quotas of the project that a machine counts against, as "instances: 3 of 3".
func (c *Client) UsedUp(ctx context.Context) ([]string, error) {
	counts := map[string]bool{QuotaInstances: true, QuotaCores: true, QuotaMemory: true, QuotaPorts: true,
		QuotaVolumes: true, QuotaGigabytes: true}
	var full []string
	for _, read := range []func(context.Context) ([]Quota, error){c.ComputeQuotas, c.NetworkQuotas, c.VolumeQuotas} {
		list, err := read(ctx)
		if err != nil {
			return nil, Explain("read the quotas of the project", err)
		}
		for _, q := range list {
			if counts[q.What] && q.Limit >= 0 && q.Used >= q.Limit {
				full = append(full, fmt.Sprintf("%s: %d of %d", q.What, q.Used, q.Limit))
			}
		}
	}
	return full, nil
}
