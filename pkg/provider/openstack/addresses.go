package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

const (
	addressHint = "Delete unused floating IPs, ask the operator of the cloud for more, or set " +
		"cluster.openstack.api_server.floating_ip to one of yours."
	listedHint = "Run the same command again: it finds the floating IP by its description, and makes no second one."
)

// addresses are the floating IPs that were made for the API server of one cluster.
type addresses struct {
	project project
	network string // the external network, by ID or name
	given   string // the address that the cluster was given; empty: none yet
	cluster leftovers.Cluster
}

// find returns the address; zero if there is none.
func (a addresses) find(ctx context.Context) (provider.Address, error) {
	found, _, err := a.look(ctx)
	return found, err
}

// look returns the address, and the floating IP if there is one.
func (a addresses) look(ctx context.Context) (provider.Address, *inventory.FloatingIP, error) {
	all, err := a.project.FloatingIPs(ctx)
	if err != nil {
		return provider.Address{}, nil, notAnswered("list the floating IPs", err)
	}
	found, ip, err := a.choose(all)
	if err != nil || ip == nil {
		return found, nil, err
	}
	return found, ip, a.check(ctx, *ip)
}

// check refuses a floating IP that the API server cannot use.
func (a addresses) check(ctx context.Context, ip inventory.FloatingIP) error {
	if ip.Status == "ERROR" {
		return fault.New(fault.CloudLacks, fmt.Sprintf("floating IP %s of the API server has the status ERROR",
			ip.Name),
			"Ask the operator of the cloud to repair it.")
	}
	if a.given == "" { // a cluster that has an address keeps it
		network, err := a.externalNetwork(ctx)
		if err != nil {
			return err
		}
		if ip.Network != network {
			return fault.New(fault.CloudLacks, fmt.Sprintf("floating IP %s was made for the API server in another "+
				"external network than %q", ip.Name, a.network),
				"Set cluster.openstack.external_network to its network. "+
					"Or delete it, if no cluster uses it: openstack floating ip delete "+ip.ID+".")
		}
	}
	if ip.Port == "" {
		return nil
	}
	port, err := a.project.Port(ctx, ip.Port)
	if err != nil && !errors.Is(err, cloud.ErrNotFound) {
		return notAnswered("read the port of floating IP "+ip.Name, err)
	}
	if err == nil && a.cluster.MayOwnPort(port) {
		return nil
	}
	return fault.New(fault.CloudLacks,
		fmt.Sprintf("floating IP %s of the API server is in use by port %s, which is not "+
			"this cluster's", ip.Name, ip.Port), "Disassociate it: openstack floating ip unset --port "+ip.ID+".")
}

// externalNetwork returns the ID of the external network.
func (a addresses) externalNetwork(ctx context.Context) (string, error) {
	all, err := a.project.ExternalNetworks(ctx)
	if err != nil {
		return "", notAnswered("list the external networks", err)
	}
	return only("external network", a.network,
		"Set cluster.openstack.external_network to an ID that openstack network list --external prints.", all)
}

// make finds the floating IP, or makes one, and completes its marks.
func (a addresses) make(ctx context.Context) (provider.Address, error) {
	found, ip, err := a.look(ctx)
	if err != nil || found.Foreign {
		return found, err
	}
	if ip == nil {
		if found, ip, err = a.create(ctx); err != nil {
			return found, err
		}
	}
	if found.Marked {
		return found, nil
	}
	if err := a.project.Tag(ctx, ip.Resource, a.cluster.Tag()); err != nil {
		return found, notAnswered("tag floating IP "+ip.Name, err)
	}
	found.Marked = true
	return found, nil
}

// create makes a floating IP and lists them again: another run may have made one at the same time. All runs keep the
// same one, and each deletes only its own.
func (a addresses) create(ctx context.Context) (provider.Address, *inventory.FloatingIP, error) {
	network, err := a.externalNetwork(ctx)
	if err != nil {
		return provider.Address{}, nil, err
	}
	made, err := a.project.MakeFloatingIP(ctx, network, a.cluster.AddressDescription())
	if err != nil {
		return provider.Address{}, nil, notMade(a.network, err)
	}
	found, ip, err := a.look(ctx)
	if err != nil {
		return found, nil, err
	}
	if ip == nil {
		return found, nil, fault.Retryable(fmt.Errorf("the floating IP that was made in external network %q is not "+
			"listed yet", a.network), fault.CloudUnreachable, listedHint)
	}
	if made == "" || made == ip.ID {
		return found, ip, nil
	}
	found.Warnings = nil // about the one that is deleted here
	_, err = a.deleteUnused(ctx, func(other inventory.FloatingIP) bool { return other.ID == made })
	return found, ip, err
}

// notAnswered explains why a request failed: what it was about is not known.
func notAnswered(what string, err error) error {
	err = fmt.Errorf("%s: %w", what, err)
	if refused, is := errors.AsType[*cloud.Refusal](err); is && refused.Code == http.StatusUnauthorized {
		return fault.Wrap(err, fault.CloudRefused, "Check the credentials of the cloud.")
	}
	return fault.Retryable(err, fault.CodeOr(err, fault.CloudUnreachable), "Run the same command again when the cloud "+
		"answers.")
}

// notMade explains why the cloud made no floating IP.
func notMade(network string, err error) error {
	what := fmt.Sprintf("make a floating IP in external network %q", network)
	refused, is := errors.AsType[*cloud.Refusal](err)
	switch {
	case is && (refused.Code == http.StatusConflict || refused.Code == http.StatusForbidden ||
		refused.Code == http.StatusBadRequest):
		return fault.Wrap(fmt.Errorf("%s: %w", what, err), fault.CloudLacks, addressHint)
	case errors.Is(err, cloud.ErrNotFound):
		return fault.Wrap(fmt.Errorf("%s: %w", what, err), fault.CloudLacks,
			"Set cluster.openstack.external_network to one that openstack network list --external prints.")
	case cloud.Temporary(err):
		return fault.Retryable(fmt.Errorf("%s: %w", what, err), fault.CloudUnreachable, listedHint)
	}
	return fault.Wrap(fmt.Errorf("%s: %w", what, err), fault.CodeOr(err, fault.CloudUnreachable), listedHint)
}

// checkDelete returns why delete would fail now.
func (a addresses) checkDelete(ctx context.Context) error {
	if _, err := a.project.FloatingIPs(ctx); err != nil {
		return notAnswered("list the floating IPs", err)
	}
	return nil
}

// delete deletes the floating IPs of the cluster's API server.
func (a addresses) delete(ctx context.Context) ([]string, error) {
	return a.deleteUnused(ctx, func(inventory.FloatingIP) bool { return true })
}

// deleteUnused deletes those floating IPs of the cluster's API server that which selects. It refuses one that a port
// has. It lists them right before: what was seen earlier may have changed.
func (a addresses) deleteUnused(ctx context.Context, which func(inventory.FloatingIP) bool) ([]string, error) {
	all, err := a.project.FloatingIPs(ctx)
	if err != nil {
		return nil, notAnswered("list the floating IPs", err)
	}
	var deleted []string
	for _, ip := range all {
		if !a.cluster.OwnsAddress(ip.Resource) || !which(ip) {
			continue
		}
		if ip.Port != "" {
			return deleted, fault.Retryable(fmt.Errorf("delete floating IP %s: port %s has it", ip.Name, ip.Port),
				fault.CleanupFailed, "Run the same command again when the machines are gone.")
		}
		if _, err := a.project.Delete(ctx, ip.Resource); err != nil && !errors.Is(err, cloud.ErrNotFound) {
			return deleted, fault.Wrap(fmt.Errorf("delete floating IP %s: %w", ip.Name, err), fault.CleanupFailed,
				"Run the same command again, or delete it: openstack floating ip delete "+ip.ID+".")
		}
		deleted = append(deleted, ip.Name)
	}
	return deleted, nil
}
