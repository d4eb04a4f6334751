package openstack

import (
	"context"

	"github.com/cluster-init/cluster-init/pkg/environment"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

var (
	_ provider.AddressMaker   = Provider{}
	_ provider.AddressDeleter = Provider{}
)

// project is the part of a project that the address of an API server needs. cloudProject is the real one.
type project interface {
	FloatingIPs(context.Context) ([]inventory.FloatingIP, error)
	ExternalNetworks(context.Context) ([]cloud.Resource, error)
	Port(ctx context.Context, id string) (cloud.Resource, error)
	MakeFloatingIP(ctx context.Context, network, description string) (id string, err error)
	Tag(ctx context.Context, r cloud.Resource, tag string) error
	Associate(ctx context.Context, floatingIP, port cloud.Resource) error
	Delete(ctx context.Context, r cloud.Resource) (gone bool, err error)
	Inventory(context.Context) (cloud.Inventory, error)
}

// FindAddress lists the project's floating IPs, or the ports with the virtual address, and changes nothing.
func (p Provider) FindAddress(ctx context.Context, env *environment.Environment) (provider.Address, error) {
	if env.ReservesAddress() {
		r, err := p.reservation(ctx, env)
		if err != nil {
			return provider.Address{}, err
		}
		found, _, err := r.find(ctx)
		return found, err
	}
	a, err := p.addresses(ctx, env)
	if err != nil {
		return provider.Address{}, err
	}
	found, _, err := a.find(ctx)
	return found, err
}

// MakeAddress makes a floating IP in the external network, or a port with the virtual address, unless there is one that
// was made for the cluster.
func (p Provider) MakeAddress(ctx context.Context, env *environment.Environment) (provider.Address, error) {
	if env.ReservesAddress() {
		r, err := p.reservation(ctx, env)
		if err != nil {
			return provider.Address{}, err
		}
		return r.make(ctx)
	}
	a, err := p.addresses(ctx, env)
	if err != nil {
		return provider.Address{}, err
	}
	return a.make(ctx)
}

// MoveAddress associates the floating IP with the youngest control-plane machine of joined. Cluster API's provider
// (v0.14.7) gives a floating IP without a port to the first machine that it reconciles. That can take ten minutes, and
// the machine may not have joined yet. keepalived moves a virtual address.
func (p Provider) MoveAddress(ctx context.Context, env *environment.Environment, joined []string) (machine string,
	err error) {
	if env.ReservesAddress() {
		return "", nil
	}
	a, err := p.addresses(ctx, env)
	if err != nil {
		return "", err
	}
	return a.move(ctx, joined)
}

// CheckDeleteAddress logs in, and lists the project's floating IPs, or the ports with the virtual address.
func (p Provider) CheckDeleteAddress(ctx context.Context) error {
	if p.environment.ReservesAddress() {
		r, err := p.reservation(ctx, p.environment)
		if err != nil {
			return err
		}
		return r.checkDelete(ctx)
	}
	if p.environment.ManagedAddress() == "" {
		return nil
	}
	a, err := p.addresses(ctx, p.environment)
	if err != nil {
		return err
	}
	if _, err := a.project.FloatingIPs(ctx); err != nil {
		return notAnswered("list the floating IPs", err)
	}
	return nil
}

// DeleteAddress deletes what MakeAddress made for the cluster. A cluster that was given no floating IP has none.
func (p Provider) DeleteAddress(ctx context.Context) ([]string, error) {
	if p.environment.ReservesAddress() {
		r, err := p.reservation(ctx, p.environment)
		if err != nil {
			return nil, err
		}
		return r.delete(ctx)
	}
	if p.environment.ManagedAddress() == "" {
		return nil, nil
	}
	a, err := p.addresses(ctx, p.environment)
	if err != nil {
		return nil, err
	}
	return a.delete(ctx)
}

func (p Provider) addresses(ctx context.Context, env *environment.Environment) (addresses, error) {
	client, err := p.connect(ctx)
	if err != nil {
		return addresses{}, err
	}
	return addresses{project: inventory.Project{Client: client}, network: env.OpenStack().ExternalNetwork,
		given: env.ManagedAddress(), cluster: clusterOf(env)}, nil
}

func (p Provider) reservation(ctx context.Context, env *environment.Environment) (reservation, error) {
	client, err := p.connect(ctx)
	if err != nil {
		return reservation{}, err
	}
	of := env.OpenStack()
	return reservation{project: inventory.Project{Client: client}, projectID: client.ProjectID,
		network: of.Network.Network, subnet: of.Network.Subnet, address: of.APIServer.FixedIP,
		cluster: clusterOf(env)}, nil
}

func clusterOf(env *environment.Environment) leftovers.Cluster {
	return leftovers.Cluster{Namespace: env.ClusterNamespace(), Name: env.ClusterName()}
}
