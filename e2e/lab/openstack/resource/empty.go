package resource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/container"
)

const (
	// emptyTimeout bounds the removal of all that is in a project.
	emptyTimeout = 3 * time.Minute
	// atOnce is how many deletions run at the same time: the services have few threads.
	atOnce = 8
)

// kind is one kind of what a project may hold.
type kind struct {
	client           *gophercloud.ServiceClient
	path, query, key string
	// keep says of which ones something else takes care; nil means none.
	keep func(item) bool
	// remove deletes one; nil means by its id.
	remove func(context.Context, item) error
}

// kinds returns what a project may hold, in the order in which it goes at the first attempt as far as possible.
func (c cloud) kinds(project string) []kind {
	own := "?project_id=" + project
	network := func(path, key string) kind { return kind{client: c.network, path: path, query: own, key: key} }
	groups := network("security-groups", "security_groups")
	groups.keep = func(group item) bool { return group.Name == "default" }
	interfaces := network("ports", "ports")
	interfaces.query += "&device_owner=network:router_interface"
	interfaces.remove = c.removeInterface
	ports := network("ports", "ports")
	ports.keep = func(port item) bool { return strings.HasPrefix(port.DeviceOwner, "network:") }
	balancers := kind{client: c.balancer, path: "lbaas/loadbalancers", query: own, key: "loadbalancers",
		remove: c.removeBalancer}
	return []kind{
		balancers,
		{client: c.compute, path: "servers", key: "servers"},
		{client: c.compute, path: "os-server-groups", key: "server_groups"},
		{client: c.volume, path: "snapshots", key: "snapshots"},
		{client: c.volume, path: "volumes", key: "volumes"},
		{client: c.image, path: "images", query: "?limit=1000&owner=" + project, key: "images"},
		network("floatingips", "floatingips"), interfaces, network("routers", "routers"), network("trunks", "trunks"),
		ports, network("networks", "networks"), groups,
	}
}

// removeBalancer deletes a load balancer with all that is in it. Octavia deletes its port.
func (c cloud) removeBalancer(ctx context.Context, balancer item) error {
	return remove(ctx, c.balancer, "lbaas/loadbalancers", balancer.ID+"?cascade=true")
}

// removeInterface takes a router's port off the router, which deletes the port.
func (c cloud) removeInterface(ctx context.Context, port item) error {
	url := c.network.ServiceURL("routers", port.DeviceID, "remove_router_interface")
	_, err := c.network.Put(ctx, url, map[string]any{"port_id": port.ID}, nil, accept(http.StatusOK))
	return err
}

// empty deletes all that is in the login's project, over and over until nothing is left: what is refused because of
// something else goes when that has gone.
func empty(ctx context.Context, own cloud, project string) error {
	return container.Wait(ctx, "nothing left", emptyTimeout, func(ctx context.Context) error {
		var left error
		for _, kind := range own.kinds(project) {
			left = errors.Join(left, kind.removeAll(ctx))
		}
		return left
	})
}

// removeAll asks for the deletion of all of a kind. It returns nil only when there were none.
func (k kind) removeAll(ctx context.Context) error {
	items, err := list[item](ctx, k.client, k.path+k.query, k.key)
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	found := 0
	for _, one := range items {
		if k.keep != nil && k.keep(one) {
			continue
		}
		found++
		group.Go(func() error {
			if k.remove != nil {
				return k.remove(ctx, one)
			}
			return remove(ctx, k.client, k.path, one.ID)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if found > 0 {
		return fmt.Errorf("%d %s", found, k.path)
	}
	return nil
}
