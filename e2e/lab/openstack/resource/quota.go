package resource

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

// Quotas are limits by the names that OpenStack's APIs give them, such as cores, ram (MB), port, volumes, gigabytes.
type Quotas map[string]int

// generous returns limits that exist but are not reached by chance.
func generous() Quotas {
	return Quotas{
		"instances": 100, "cores": 200, "ram": 400_000, "server_groups": 100, "server_group_members": 100,
		"network": 100, "subnet": 100, "router": 100, "port": 1000, "floatingip": 100, "security_group": 100,
		"security_group_rule": 2000,
		"volumes":             200, "gigabytes": 10_000, "snapshots": 200,
		"load_balancer": 50, "listener": 100, "pool": 100, "member": 500, "health_monitor": 100,
	}
}

// quotaHolder is a service that has limits.
type quotaHolder struct {
	client    *gophercloud.ServiceClient
	path, key string
	names     []string
}

func (c cloud) quotaHolders() []quotaHolder {
	return []quotaHolder{
		{c.compute, "os-quota-sets", "quota_set", []string{
			"instances", "cores", "ram", "key_pairs", "server_groups", "server_group_members", "metadata_items"}},
		{c.network, "quotas", "quota", []string{
			"network", "subnet", "router", "port", "floatingip", "security_group", "security_group_rule", "trunk"}},
		{c.volume, "os-quota-sets", "quota_set", []string{"volumes", "gigabytes", "snapshots", "per_volume_gigabytes"}},
		{c.balancer, "lbaas/quotas", "quota", []string{
			"load_balancer", "listener", "pool", "member", "health_monitor"}},
	}
}

// SetQuotas changes limits of a project, given by its name, and leaves all others as they are. -1 is no limit.
func SetQuotas(ctx context.Context, installation configuration.Installation, project string, quotas Quotas) error {
	admin, err := connect(ctx, installation, Admin(installation))
	if err != nil {
		return err
	}
	return setQuotas(ctx, admin, project, quotas)
}

func setQuotas(ctx context.Context, admin cloud, project string, quotas Quotas) error {
	id, err := find(ctx, admin.identity, "projects", "projects", project)
	if err != nil {
		return err
	}
	if id == "" {
		return fmt.Errorf("set quotas: there is no project %s", project)
	}
	left := maps.Clone(quotas)
	for _, holder := range admin.quotaHolders() {
		own := map[string]any{}
		for _, name := range holder.names {
			if limit, wanted := left[name]; wanted {
				own[name] = limit
				delete(left, name)
			}
		}
		if len(own) == 0 {
			continue
		}
		url := holder.client.ServiceURL(holder.path, id)
		if _, err := holder.client.Put(ctx, url, map[string]any{holder.key: own}, nil,
			accept(http.StatusOK, http.StatusAccepted)); err != nil {
			return fmt.Errorf("set quotas of project %s: %w", project, err)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("set quotas of project %s: there is no quota %v", project, slices.Sorted(maps.Keys(left)))
	}
	return nil
}

// deleteQuotas makes a project's limits the default ones.
func deleteQuotas(ctx context.Context, admin cloud, project string) error {
	for _, holder := range admin.quotaHolders() {
		url := holder.client.ServiceURL(holder.path, project)
		_, err := holder.client.Delete(ctx, url, accept(http.StatusOK, http.StatusAccepted, http.StatusNoContent))
		if err != nil && !notFound(err) {
			return fmt.Errorf("delete quotas of project %s: %w", project, err)
		}
	}
	return nil
}
