// Package aws is the provider whose machines are instances of EC2 (Cluster API's CAPA).
package aws

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	cloud "github.com/cluster-init/cluster-init/pkg/aws"
	"github.com/cluster-init/cluster-init/pkg/aws/preflight"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Provider makes machines that cluster-init cannot list. Make one with New.
type Provider struct{ environment *environment.Environment }

// New returns the provider of an environment's machines.
func New(env *environment.Environment) Provider { return Provider{environment: env} }

var (
	_ provider.Provider        = Provider{}
	_ provider.UserDataLimiter = Provider{}
	_ provider.NameSharer      = Provider{}
)

// Place is AWS.
func (Provider) Place() string { return "AWS" }

// ReachesEngine is false.
func (Provider) ReachesEngine() bool { return false }

// SharesNames is true: the tags of resources and the name of the load balancer have no namespace.
func (Provider) SharesNames() bool { return true }

// UserDataLimit follows EC2's API: 16 KiB before base64.
func (Provider) UserDataLimit() int { return 16 << 10 }

// Preflight checks what the cluster needs, with the environment's credentials. A profile without keys stands for the
// role of the machine that the provider will run on: nothing can be checked from here.
func (p Provider) Preflight(ctx context.Context, report provider.Reporter) error {
	credentials, found, err := cloud.ParseProfile(p.environment.AWSCredentials())
	if err != nil {
		return fault.Wrap(err, fault.CredentialsMissing, "Set cluster.aws.credentials to the output of "+
			"`clusterawsadm bootstrap credentials encode-as-profile`.")
	}
	if !found {
		report.Warn("AWS: not checked: without an access key, the provider uses the role of its machine")
		return nil
	}
	of := p.environment.AWS()
	client, err := cloud.Connect(credentials, of.Region)
	if errors.Is(err, cloud.ErrPartition) {
		report.Warn("AWS: not checked: region %s: %v", of.Region, err)
		return nil
	}
	if err != nil {
		return err
	}
	seen, err := preflight.Run(ctx, client, needs(p.environment, credentials))
	for _, note := range seen.Notes {
		report.Progress("AWS: %s", note)
	}
	for _, warning := range seen.Warnings {
		report.Warn("AWS: %s", warning)
	}
	return err
}

// needs translates the environment's requirements into the adapter's type.
func needs(env *environment.Environment, credentials cloud.Credentials) preflight.Needs {
	of := env.AWS()
	var pools []preflight.Machines
	for _, pool := range of.Pools {
		pools = append(pools, preflight.Machines(pool))
	}
	return preflight.Needs{
		Cluster: env.ClusterName(), Image: of.Image, KeyPair: of.SSHKeyName, Bucket: of.Bucket,
		RootGiB:      of.RootVolumeGiB,
		ControlPlane: preflight.Machines(of.ControlPlane), Workers: preflight.Machines(of.Workers),
		Pools: pools,
		Lookup: preflight.Lookup{BaseOS: of.LookupBaseOS, Format: of.LookupFormat, Owner: of.LookupOwner,
			KubernetesVersion: env.KubernetesVersion()},
		Temporary: credentials.SessionToken != "",
	}
}

// Kinds are those that report why a machine is not created.
func (Provider) Kinds() []schema.GroupVersionResource {
	group := schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io"}
	return []schema.GroupVersionResource{group.WithResource("awsclusters"), group.WithResource("awsmachines")}
}

// Machines is not supported.
func (Provider) Machines(context.Context) ([]provider.Machine, error) {
	return nil, provider.ErrNotSupported
}

// Start is never called, as no machine is known.
func (Provider) Start(_ context.Context, m provider.Machine) error {
	return fmt.Errorf("start instance %s: not supported", m.Name)
}

// Find is the command that lists what Cluster API's provider (v2.13.0) made for a cluster: it puts this tag on
// everything.
func (Provider) Find(cluster string) string {
	return "aws resourcegroupstaggingapi get-resources --tag-filters " +
		"Key=sigs.k8s.io/cluster-api-provider-aws/cluster/" + cluster
}

// The variables of an environment whose values AWS's tools may keep elsewhere.
const (
	region      = "AWS_REGION"
	credentials = "AWS_B64ENCODED_CREDENTIALS"
)

// Derive returns the value of an environment's variable, by AWS's default chain. found is false for a variable of
// another owner, and for the region if the chain has none.
func Derive(ctx context.Context, name string) (value string, found bool, err error) {
	if name != region && name != credentials {
		return "", false, nil
	}
	chain, err := cloud.Load(ctx)
	if err != nil {
		return "", false, err
	}
	if name == region {
		return chain.Region(), chain.Region() != "", nil
	}
	given, err := chain.Credentials(ctx)
	if err != nil {
		return "", false, err
	}
	return given.Profile(), true, nil
}

// NoCredentials is Derive for a run without credentials: it looks for none.
func NoCredentials(ctx context.Context, name string) (value string, found bool, err error) {
	if name == credentials {
		return cloud.NoProfile, true, nil
	}
	return Derive(ctx, name)
}
