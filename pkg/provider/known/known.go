// Package known is the list of providers: it finds the provider of an environment. No other package reads a provider's
// name.
package known

import (
	"context"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/aws"
	dockerprovider "github.com/cluster-init/cluster-init/pkg/provider/docker"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack"
)

// Names returns the names of all providers, as values of cluster.infra_provider.
func Names() []string { return []string{"capa", "capd", "capo"} }

// Of returns the provider of the environment's machines. An unknown provider is a fault ValuesInvalid, and never
// another provider: its machines would be looked for in the wrong place.
func Of(env *environment.Environment, engine *docker.Client) (provider.Provider, error) {
	switch name := env.InfraProvider(); name {
	case "capo":
		return openstack.New(env), nil
	case "capa":
		return aws.New(env), nil
	case "capd":
		return dockerprovider.Provider{Engine: engine, Cluster: env.ClusterName()}, nil
	default:
		return nil, fault.New(fault.ValuesInvalid,
			fmt.Sprintf("cluster.infra_provider is %q, which this binary does not support", name),
			"Set cluster.infra_provider to one of "+strings.Join(Names(), ", ")+".")
	}
}

// Ranged is a provider that makes networks: its address ranges must not overlap those of the cluster.
type Ranged interface{ Ranges() []environment.Range }

// Ranges are the address ranges that the environment's provider uses: see environment.Options.
func Ranges(env *environment.Environment) []environment.Range {
	makes, err := Of(env, nil)
	if p, uses := makes.(Ranged); err == nil && uses {
		return p.Ranges()
	}
	return nil
}

// Derive returns the value of an environment's variable that cloud tools may keep outside of the process's variables.
// lookup returns those. found is false for a variable of another owner, and for an optional one without a value.
func Derive(ctx context.Context, lookup func(string) (string, bool), name string) (value string, found bool,
	err error) {
	if value, found, err := DeriveToClean(lookup, name); found || err != nil {
		return value, found, err
	}
	return aws.Derive(ctx, name)
}

// DeriveToClean is Derive for those clouds alone whose leftovers can be deleted.
func DeriveToClean(lookup func(string) (string, bool), name string) (value string, found bool, err error) {
	return openstack.Derive(lookup, name)
}

// NoCredentials is Derive for a run without credentials: it looks for none.
func NoCredentials(ctx context.Context, name string) (value string, found bool, err error) {
	if value, found := openstack.NoCloud(name); found {
		return value, true, nil
	}
	return aws.NoCredentials(ctx, name)
}

// Cloud returns the leftovers of the cluster in the cloud that the process's variables name, as lookup returns them.
// Nil means that there are no credentials. Unusable ones are an error.
func Cloud(ctx context.Context, lookup func(string) (string, bool), namespace, cluster string) (provider.Leftovers,
	error) {
	return openstack.LeftoversIn(ctx, lookup, namespace, cluster)
}

// CloudPlace is the place of Cloud, for people.
const CloudPlace = "OpenStack"
