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

// endpoint is what the address of one cluster's API server stands on: a floating IP, or a port that reserves a virtual
// address.
type endpoint interface {
	find(context.Context) (provider.Address, error)
	make(context.Context) (provider.Address, error)
	move(ctx context.Context, joined []string) (machine string, err error)
	checkDelete(context.Context) error
	delete(context.Context) ([]string, error)
}

// FindAddress lists the project's floating IPs, or the ports with the virtual address, and changes nothing.
func (p Provider) FindAddress(ctx context.Context, env *environment.Environment) (provider.Address, error) {
	of, err := p.endpoint(ctx, env)
	if err != nil {
		return provider.Address{}, err
	}
	return of.find(ctx)
}

// MakeAddress makes a floating IP in the external network, or a port with the virtual address, unless there is one that
// was made for the cluster.
func (p Provider) MakeAddress(ctx context.Context, env *environment.Environment) (provider.Address, error) {
	of, err := p.endpoint(ctx, env)
	if err != nil {
		return provider.Address{}, err
	}
	return of.make(ctx)
}

// MoveAddress associates the floating IP with the youngest control-plane machine of joined. Cluster API's provider
// (v0.14.7) gives a floating IP without a port to the first machine that it reconciles. That can take ten minutes, and
// the machine may not have joined yet. keepalived moves a virtual address.
func (p Provider) MoveAddress(ctx context.Context, env *environment.Environment, joined []string) (machine string,
	err error) {
	of, err := p.endpoint(ctx, env)
	if err != nil {
		return "", err
	}
	return of.move(ctx, joined)
}

// CheckDeleteAddress logs in, and lists the project's floating IPs, or the ports with the virtual address.
func (p Provider) CheckDeleteAddress(ctx context.Context) error {
	if !p.mayHaveAddress() {
		return nil
	}
	of, err := p.endpoint(ctx, p.environment)
	if err != nil {
		return err
	}
	return of.checkDelete(ctx)
}

// DeleteAddress deletes what MakeAddress made for the cluster. A cluster that was given no floating IP has none.
func (p Provider) DeleteAddress(ctx context.Context) ([]string, error) {
	if !p.mayHaveAddress() {
		return nil, nil
	}
	of, err := p.endpoint(ctx, p.environment)
	if err != nil {
		return nil, err
	}
	return of.delete(ctx)
}

// mayHaveAddress reports whether MakeAddress may have made something. Values name a virtual address before that.
func (p Provider) mayHaveAddress() bool {
	return p.environment.ReservesAddress() || p.environment.ManagedAddress() != ""
}

func (p Provider) endpoint(ctx context.Context, env *environment.Environment) (endpoint, error) {
	client, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	of, in := env.OpenStack(), inventory.Project{Client: client}
	if env.ReservesAddress() {
		return reservation{project: in, projectID: client.ProjectID, network: of.Network.Network,
			subnet: of.Network.Subnet, address: of.APIServer.FixedIP, cluster: clusterOf(env)}, nil
	}
	return addresses{project: in, network: of.ExternalNetwork, given: env.ManagedAddress(),
		cluster: clusterOf(env)}, nil
}

func clusterOf(env *environment.Environment) leftovers.Cluster {
	return leftovers.Cluster{Namespace: env.ClusterNamespace(), Name: env.ClusterName()}
}
