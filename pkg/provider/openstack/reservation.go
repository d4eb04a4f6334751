package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

const (
	reserveHint = "Set cluster.openstack.api_server.fixed_ip to a free address of the machines' subnet. The network " +
		"must be this project's: most clouds let only its owner choose an address in it."
	reservedHint = "Run the same command again: it finds the port by its description, and makes no second one."
)

// subnetProject is the part of a project that the reservation of an address needs. inventory.Project is the real one.
type subnetProject interface {
	Networks(context.Context) ([]cloud.Resource, error)
	Subnets(ctx context.Context, network string) ([]inventory.Subnet, error)
	PortsAt(ctx context.Context, network, address string) ([]inventory.Port, error)
	OwnPorts(context.Context) ([]inventory.Port, error)
	Reserve(ctx context.Context, r cloud.Reservation) (id string, err error)
	Tag(ctx context.Context, r cloud.Resource, tag string) error
	Delete(ctx context.Context, r cloud.Resource) (gone bool, err error)
}

// reservation is the port that keeps the virtual address of one cluster's API server. No machine has the port: the
// address is one of the allowed address pairs of the machines' own ports.
type reservation struct {
	project         subnetProject
	projectID       string
	network, subnet string // of the machines, by ID or name; subnet may be empty
	address         string
	cluster         leftovers.Cluster
}

// find returns the address if a port has it that the cluster can use: the cluster's own, or one of the user's. It is
// zero if none has the address.
func (r reservation) find(ctx context.Context) (provider.Address, error) {
	place, err := r.place(ctx)
	if err != nil {
		return provider.Address{}, err
	}
	found, _, err := r.findAt(ctx, place)
	return found, err
}

// findAt is find, with the port that has the address.
func (r reservation) findAt(ctx context.Context, place place) (provider.Address, *inventory.Port, error) {
	ports, err := r.project.PortsAt(ctx, place.network, r.address)
	if err != nil {
		return provider.Address{}, nil, notAnswered("list the ports with the address "+r.address, err)
	}
	found := provider.Address{}
	var chosen *inventory.Port
	for _, port := range ports {
		if err := r.refuse(port); err != nil {
			return provider.Address{}, nil, err
		}
		// One without marks is the user's: it is used, and not deleted.
		found = provider.Address{Address: r.address, Marked: !r.cluster.OwnsAddress(port.Resource) ||
			slices.Contains(port.Tags, r.cluster.Tag())}
		chosen = &port
	}
	if chosen == nil || !r.cluster.OwnsAddress(chosen.Resource) {
		if err := r.refuseShared(ctx, place); err != nil {
			return provider.Address{}, nil, err
		}
	}
	return found, chosen, nil
}

// refuseShared refuses an address that machines of others have as a virtual one: the port that reserves it looks as one
// of the user's does.
func (r reservation) refuseShared(ctx context.Context, place place) error {
	ports, err := r.project.OwnPorts(ctx)
	if err != nil {
		return notAnswered("list the ports", err)
	}
	for _, port := range ports {
		pair := slices.Contains(port.Pairs, r.address) || slices.Contains(port.Pairs, r.address+"/32")
		if pair && port.Network == place.network && !r.cluster.MayOwnPort(port.Resource) {
			return fault.New(fault.CloudLacks,
				fmt.Sprintf("address %s of the API server is a virtual address of port %s already, of device %q (%s), "+
					"which is not this cluster's", r.address, port.ID, port.Device, port.Owner),
				"Set cluster.openstack.api_server.fixed_ip to another address of the machines' subnet.")
		}
	}
	return nil
}

// refuse explains why the API server cannot have the address of a port.
func (r reservation) refuse(port inventory.Port) error {
	const hint = "Set cluster.openstack.api_server.fixed_ip to an address of the machines' subnet that no port has."
	refused := func(why string) error {
		return fault.New(fault.CloudLacks, fmt.Sprintf("address %s of the API server is in use by port %s%s", r.address,
			port.ID, why), hint)
	}
	other := r.cluster.ClaimedBy(port.Resource)
	switch {
	case other != "":
		return refused(", which is marked as that of cluster " + other)
	case port.Device != "" || port.Owner != "":
		return refused(fmt.Sprintf(" of device %q (%s)", port.Device, port.Owner))
	case port.Project != "" && port.Project != r.projectID:
		return refused(" of another project")
	case !r.cluster.OwnsAddress(port.Resource) && leftovers.MadeByProvider(port.Resource):
		return refused(", which Cluster API's provider made for a machine")
	}
	return nil
}

// make finds the port, or makes one, and completes its marks.
func (r reservation) make(ctx context.Context) (provider.Address, error) {
	place, err := r.place(ctx)
	if err != nil {
		return provider.Address{}, err
	}
	found, port, err := r.findAt(ctx, place)
	if err == nil && port == nil {
		found, port, err = r.create(ctx, place)
	}
	if err != nil || found.Marked {
		return found, err
	}
	if err := r.project.Tag(ctx, port.Resource, r.cluster.Tag()); err != nil {
		return found, notAnswered("tag port "+port.ID, err)
	}
	found.Marked = true
	return found, nil
}

// create makes the port and lists it again. A network has one port with an address: of two runs at the same time one is
// refused, and finds the port of the other.
func (r reservation) create(ctx context.Context, place place) (provider.Address, *inventory.Port, error) {
	_, failed := r.project.Reserve(ctx, cloud.Reservation{Network: place.network, Subnet: place.subnet,
		Address: r.address, Name: r.cluster.AddressName(), Description: r.cluster.AddressDescription()})
	refused, is := errors.AsType[*cloud.Refusal](failed)
	if failed != nil && !(is && refused.Code == http.StatusConflict) {
		return provider.Address{}, nil, r.notReserved(failed)
	}
	found, port, err := r.findAt(ctx, place)
	switch {
	case err != nil || port != nil:
		return found, port, err
	case failed != nil:
		return provider.Address{}, nil, r.notReserved(failed)
	}
	return provider.Address{}, nil, fault.Retryable(fmt.Errorf("the port that reserves the address %s is not listed "+
		"yet", r.address), fault.CloudUnreachable, reservedHint)
}

// notReserved explains why the cloud made no port.
func (r reservation) notReserved(err error) error {
	refused, is := errors.AsType[*cloud.Refusal](err)
	err = fmt.Errorf("reserve the address %s in network %q: %w", r.address, r.network, err)
	switch {
	case is && slices.Contains([]int{http.StatusConflict, http.StatusForbidden, http.StatusBadRequest}, refused.Code),
		errors.Is(err, cloud.ErrNotFound):
		return fault.Wrap(err, fault.CloudLacks, reserveHint)
	case cloud.Temporary(err):
		return fault.Retryable(err, fault.CloudUnreachable, reservedHint)
	}
	return fault.Wrap(err, fault.CodeOr(err, fault.CloudUnreachable), reservedHint)
}

// move does nothing: keepalived moves a virtual address.
func (r reservation) move(context.Context, []string) (machine string, err error) { return "", nil }

// checkDelete returns why delete would fail now.
func (r reservation) checkDelete(ctx context.Context) error {
	if _, err := r.project.OwnPorts(ctx); err != nil {
		return notAnswered("list the ports", err)
	}
	return nil
}

// delete deletes the ports that make made for the cluster, also one with a former address. It lists them right before:
// what was seen earlier may have changed.
func (r reservation) delete(ctx context.Context) ([]string, error) {
	ports, err := r.project.OwnPorts(ctx)
	if err != nil {
		return nil, notAnswered("list the ports", err)
	}
	var deleted []string
	for _, port := range ports {
		// A machine's port carries the tag too. Only its description, or the address, tells the reservation from it.
		described := port.Description == r.cluster.AddressDescription()
		if !r.cluster.OwnsAddress(port.Resource) || !described && !slices.Contains(port.Addresses, r.address) {
			continue
		}
		if port.Device != "" {
			return deleted, fault.Retryable(fmt.Errorf("delete port %s: device %s (%s) has it", port.ID, port.Device,
				port.Owner), fault.CleanupFailed, "Run the same command again when the device is gone.")
		}
		if _, err := r.project.Delete(ctx, port.Resource); err != nil && !errors.Is(err, cloud.ErrNotFound) {
			return deleted, fault.Wrap(fmt.Errorf("delete port %s: %w", port.ID, err), fault.CleanupFailed,
				"Run the same command again, or delete it: openstack port delete "+port.ID+".")
		}
		deleted = append(deleted, port.Addresses...)
	}
	return deleted, nil
}
