package openstack

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/environment"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/credentials"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

var (
	_ provider.Cleaner = Provider{}
	_ provider.Account = account{}
)

// account is a project, and the roles of the user that is logged in to it.
type account struct {
	leftovers.Project
	roles []string
}

// Admin reports whether one of the roles is an administrator's.
func (a account) Admin() bool {
	return slices.ContainsFunc(a.roles, func(role string) bool { return strings.EqualFold(role, "admin") })
}

// Leftovers logs in to the environment's cloud.
func (p Provider) Leftovers(ctx context.Context) (provider.Leftovers, error) {
	client, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	return of(client, leftovers.Cluster{Namespace: p.environment.ClusterNamespace(), Name: p.environment.ClusterName(),
		Router: p.environment.OpenStack().Network.Router}), nil
}

// LeftoversIn logs in to the cloud that python-openstackclient would use, with the process's variables from lookup.
// Without credentials it is nil. Incomplete or contradictory ones are an error: they are those of some cloud.
func LeftoversIn(ctx context.Context, lookup func(string) (string, bool), namespace, cluster string) (
	provider.Leftovers, error) {
	client, err := connectTo(ctx, lookup)
	if errors.Is(err, credentials.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return of(client, leftovers.Cluster{Namespace: namespace, Name: cluster}), nil
}

// connectTo logs in to the cloud that python-openstackclient would use. Without credentials the error is
// credentials.ErrNone.
func connectTo(ctx context.Context, lookup func(string) (string, bool)) (*cloud.Client, error) {
	found, err := credentials.Find(lookup)
	if err != nil {
		return nil, err
	}
	return cloud.Connect(ctx, found)
}

func of(client *cloud.Client, cluster leftovers.Cluster) account {
	return account{Project: leftovers.Project{Cloud: inventory.Project{Client: client}, Cluster: cluster},
		roles: client.Roles}
}

// Ranges returns the subnet that is made for the cluster. In an existing network there is none.
func (p Provider) Ranges() []environment.Range {
	if network := p.environment.OpenStack().Network; network.Made {
		return []environment.Range{{Path: "cluster.openstack.node_cidr", CIDR: network.CIDR}}
	}
	return nil
}
