package openstack

import (
	"context"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2"
)

// MakeFloatingIP makes a floating IP in an external network, and returns its ID. Neutron sets no tag in this request:
// the description is the proof of the owner until Tag has run. After an error it may have been made nevertheless.
func (c *Client) MakeFloatingIP(ctx context.Context, network, description string) (id string, err error) {
	var made struct {
		FloatingIP struct{ ID string } `json:"floatingip"`
	}
	_, err = c.Network.Post(ctx, c.Network.ServiceURL("floatingips"), map[string]any{"floatingip": map[string]string{
		"floating_network_id": network, "description": description}}, &made,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusCreated}})
	return made.FloatingIP.ID, Answer(err)
}

// Tag adds a tag to those that a resource of Neutron has. The error is ErrNotFound if it does not exist.
func (c *Client) Tag(ctx context.Context, r Resource, tag string) error {
	service, address, err := c.address(r.Ref)
	if err != nil {
		return err
	}
	tags := append(slices.Clone(r.Tags), tag)
	_, err = service.Put(ctx, address+"/tags", map[string][]string{"tags": tags}, nil,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	return Answer(err)
}

// Associate gives a floating IP to a port. The error is ErrNotFound if it does not exist.
func (c *Client) Associate(ctx context.Context, floatingIP, port Resource) error {
	service, address, err := c.address(floatingIP.Ref)
	if err != nil {
		return err
	}
	_, err = service.Put(ctx, address, map[string]any{"floatingip": map[string]string{"port_id": port.ID}}, nil,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	return Answer(err)
}
