package openstack

import (
	"context"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
)

// Reservation is a port that keeps an address of a subnet from everybody else.
type Reservation struct{ Network, Subnet, Address, Name, Description string }

// Reserve makes a port with the address and without device, and returns its ID. Neutron sets no tag in this request:
// the description is the proof of the owner until Tag has run. After an error it may have been made nevertheless.
// Neutron answers 409 if another port of the network has the address.
func (c *Client) Reserve(ctx context.Context, r Reservation) (id string, err error) {
	var made struct{ Port struct{ ID string } }
	// Without groups of its own the port would be in the project's default group, whose rules would accept the address.
	_, err = c.Network.Post(ctx, c.Network.ServiceURL("ports"), map[string]any{"port": map[string]any{
		"network_id": r.Network, "name": r.Name, "description": r.Description, "security_groups": []string{},
		"fixed_ips": []map[string]string{{"subnet_id": r.Subnet, "ip_address": r.Address}},
	}}, &made, &gophercloud.RequestOpts{OkCodes: []int{http.StatusCreated}})
	return made.Port.ID, Answer(err)
}
