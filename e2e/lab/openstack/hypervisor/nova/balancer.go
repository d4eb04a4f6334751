package nova

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/listeners"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/monitors"
	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/pools"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/proxy"
)

// BalancerGone reports whether octavia denies that there is such a load balancer.
func (c *Cloud) BalancerGone(ctx context.Context, id string) (bool, error) {
	if c.balancer == nil {
		return false, fmt.Errorf("look for load balancer %s: the catalog has no octavia", id)
	}
	err := loadbalancers.Get(ctx, c.balancer, id).Err
	if missing(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for load balancer %s: %w", id, err)
	}
	return false, nil
}

// listed returns all of a list.
func listed[T any](ctx context.Context, what string, pager pagination.Pager,
	extract func(pagination.Page) ([]T, error)) ([]T, error) {
	pages, err := pager.AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the %s: %w", what, err)
	}
	all, err := extract(pages)
	if err != nil {
		return nil, fmt.Errorf("list the %s: %w", what, err)
	}
	return all, nil
}

// balancers returns the load balancers of all projects. Where there are none, that is one request.
func (c *Cloud) balancers(ctx context.Context) ([]hypervisor.LoadBalancer, error) {
	if c.balancer == nil {
		return nil, nil
	}
	all, err := listed(ctx, "load balancers", loadbalancers.List(c.balancer, nil), loadbalancers.ExtractLoadBalancers)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	byBalancer, err := c.listeners(ctx)
	if err != nil {
		return nil, err
	}
	var found []hypervisor.LoadBalancer
	for _, one := range all {
		balancer := hypervisor.LoadBalancer{ID: one.ID, Name: one.Name, Port: one.VipPortID}
		if one.AdminStateUp {
			balancer.Listeners = byBalancer[one.ID]
		}
		found = append(found, balancer)
	}
	return found, nil
}

// listeners returns the listeners that a proxy of TCP can be, by load balancer.
func (c *Cloud) listeners(ctx context.Context) (map[string][]proxy.Listener, error) {
	all, err := listed(ctx, "listeners", listeners.List(c.balancer, nil), listeners.ExtractListeners)
	if err != nil {
		return nil, err
	}
	watched, err := c.monitors(ctx)
	if err != nil {
		return nil, err
	}
	byBalancer := map[string][]proxy.Listener{}
	for _, one := range all {
		if !one.AdminStateUp || one.Protocol == "UDP" || one.Protocol == "SCTP" {
			continue
		}
		made := proxy.Listener{Port: one.ProtocolPort, Monitor: watched[one.DefaultPoolID]}
		for _, from := range one.AllowedCIDRs {
			prefix, err := netip.ParsePrefix(from)
			if err != nil {
				return nil, fmt.Errorf("allowed addresses of listener %s: %w", one.ID, err)
			}
			made.Allowed = append(made.Allowed, prefix)
		}
		if made.Members, err = c.members(ctx, one.DefaultPoolID); err != nil {
			return nil, err
		}
		for _, balancer := range one.Loadbalancers {
			byBalancer[balancer.ID] = append(byBalancer[balancer.ID], made)
		}
	}
	return byBalancer, nil
}

// members returns those of a pool. A pool that has gone since its listener was seen has none.
func (c *Cloud) members(ctx context.Context, pool string) ([]netip.AddrPort, error) {
	if pool == "" {
		return nil, nil
	}
	all, err := listed(ctx, "members", pools.ListMembers(c.balancer, pool, nil), pools.ExtractMembers)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []netip.AddrPort
	for _, one := range all {
		address, err := netip.ParseAddr(one.Address)
		if err != nil {
			return nil, fmt.Errorf("address of member %s: %w", one.ID, err)
		}
		if one.AdminStateUp && one.ProvisioningStatus != "PENDING_DELETE" {
			found = append(found, netip.AddrPortFrom(address, uint16(one.ProtocolPort)))
		}
	}
	return found, nil
}

// monitors returns how members are watched, by pool.
func (c *Cloud) monitors(ctx context.Context) (map[string]proxy.Monitor, error) {
	all, err := listed(ctx, "health monitors", monitors.List(c.balancer, nil), monitors.ExtractMonitors)
	if err != nil {
		return nil, err
	}
	found := map[string]proxy.Monitor{}
	for _, one := range all {
		for _, pool := range one.Pools {
			found[pool.ID] = proxy.Monitor{Every: time.Duration(one.Delay) * time.Second, Rise: one.MaxRetries,
				Fall: one.MaxRetriesDown}
		}
	}
	return found, nil
}
