package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
)

// Delete requests the deletion of a resource. gone reports whether the answer confirms it. A server, a volume, a
// snapshot and a load balancer take time: see Status. The error is ErrNotFound if the resource did not exist. Temporary
// reports whether a retry may help.
func (c *Client) Delete(ctx context.Context, r Resource) (gone bool, err error) {
	if r.Kind == KindInterface {
		_, err := c.Network.Put(ctx, c.Network.ServiceURL("routers", r.PartOf.ID, "remove_router_interface"),
			map[string]string{"port_id": r.ID}, nil, &gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
		return true, Answer(err)
	}
	service, address, err := c.address(r.Ref)
	if err != nil {
		return false, err
	}
	if r.Kind == KindLoadBalancer {
		address += "?cascade=true" // with its listeners, pools and members
	}
	_, err = service.Delete(ctx, address, nil)
	err = Answer(err)
	if refused := new(Refusal); errors.As(err, &refused) && refused.Code == http.StatusBadRequest &&
		(r.Kind == KindVolume || r.Kind == KindSnapshot) {
		refused.Temporary = true // it is attached, or changing its state
	}
	return !slices.Contains([]Kind{KindServer, KindVolume, KindSnapshot, KindLoadBalancer}, r.Kind), err
}

// Disassociate disconnects a floating IP from its port. The error is ErrNotFound if it did not exist.
func (c *Client) Disassociate(ctx context.Context, r Resource) error {
	service, address, err := c.address(r.Ref)
	if err != nil {
		return err
	}
	_, err = service.Put(ctx, address, map[string]any{"floatingip": map[string]any{"port_id": nil}}, nil,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	return Answer(err)
}

// Status returns the status of a resource in deletion, in lower case as its service calls it. The error is ErrNotFound
// once it is gone.
func (c *Client) Status(ctx context.Context, r Resource) (string, error) {
	service, address, err := c.address(r.Ref)
	if err != nil {
		return "", err
	}
	var body map[string]struct {
		Status       string
		Provisioning string `json:"provisioning_status"`
	}
	if _, err := service.Get(ctx, address, &body, nil); err != nil {
		return "", Answer(err)
	}
	for _, object := range body {
		return strings.ToLower(object.Status + object.Provisioning), nil
	}
	return "", nil
}

func (c *Client) address(r Ref) (*gophercloud.ServiceClient, string, error) {
	paths := map[Kind]struct {
		service *gophercloud.ServiceClient
		path    string
	}{
		KindLoadBalancer: {c.LoadBalancer, "lbaas/loadbalancers"}, KindServer: {c.Compute, "servers"},
		KindServerGroup: {c.Compute, "os-server-groups"},
		KindVolume:      {c.BlockStorage, "volumes"}, KindSnapshot: {c.BlockStorage, "snapshots"},
		KindFloatingIP: {c.Network, "floatingips"},
		KindTrunk:      {c.Network, "trunks"}, KindPort: {c.Network, "ports"}, KindRouter: {c.Network, "routers"},
		KindSubnet:  {c.Network, "subnets"},
		KindNetwork: {c.Network, "networks"}, KindSecurityGroup: {c.Network, "security-groups"},
	}
	of, known := paths[r.Kind]
	if !known || of.service == nil || r.ID == "" {
		return nil, "", fmt.Errorf("the cloud has no address for %s %q", r.Kind, r.ID)
	}
	return of.service, of.service.ServiceURL(of.path, r.ID), nil
}
