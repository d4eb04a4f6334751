// Package openstack is the provider whose machines are servers of OpenStack (Cluster API's CAPO).
package openstack

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/openstack/preflight"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

// Provider makes the machines of one environment. Make one with New.
type Provider struct {
	environment *environment.Environment
	session     *session
}

// New returns the provider of an environment's machines. It logs in to the environment's cloud at the first request.
func New(env *environment.Environment) Provider {
	return Provider{environment: env, session: &session{}}
}

var (
	_ provider.Provider        = Provider{}
	_ provider.UserDataLimiter = Provider{}
)

// Place is OpenStack.
func (Provider) Place() string { return "OpenStack" }

// ReachesEngine is false.
func (Provider) ReachesEngine() bool { return false }

// UserDataLimit follows Nova's API: 65535 bytes in base64.
func (Provider) UserDataLimit() int { return 65535 / 4 * 3 }

// Preflight logs in to the environment's cloud and checks what the cluster needs.
func (p Provider) Preflight(ctx context.Context, report provider.Reporter) error {
	of, err := Cloud(p.environment)
	if err != nil {
		return err
	}
	if err := checkAuthority(p.environment, of); err != nil {
		return err
	}
	client, err := p.connect(ctx)
	if err != nil {
		return err
	}
	wanted := needs(p.environment)
	if p.environment.ReservesAddress() {
		wanted.CheckAddress = func(ctx context.Context) error {
			_, err := p.FindAddress(ctx, p.environment)
			return err
		}
	}
	found, err := preflight.Run(ctx, client, wanted)
	for _, note := range found.Notes {
		report.Progress("cloud %s: %s", of.Name, note)
	}
	for _, warning := range found.Warnings {
		report.Warn("cloud %s: %s", of.Name, warning)
	}
	return err
}

// checkAuthority refuses a CA that is a file of this machine: controllers and machines would get clouds.yaml without
// it, and trust no certificate.
func checkAuthority(env *environment.Environment, of cloud.Cloud) error {
	if _, _, given := env.OpenStackCredentials(); given != "" || len(of.CACert) == 0 {
		return nil
	}
	return fault.New(fault.CredentialsMissing, fmt.Sprintf("cloud %s names a CA certificate that only this machine "+
		"has (cacert in cluster.openstack.clouds_yaml_b64)", of.Name),
		"Set the certificate itself: --set cluster.openstack.cacert_b64=$(base64 -w0 CA.PEM).")
}

// Kinds are those that report why a machine is not created.
func (Provider) Kinds() []schema.GroupVersionResource {
	group := schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io"}
	return []schema.GroupVersionResource{group.WithResource("openstackclusters"),
		group.WithResource("openstackmachines")}
}

// Machines returns the cluster's servers: those with its tag, which Cluster API's provider puts on everything that it
// makes if the definition says so, and those that other resources of the cluster prove.
func (p Provider) Machines(ctx context.Context) ([]provider.Machine, error) {
	client, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	has, err := inventory.Project{Client: client}.Inventory(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the cloud's resources: %w", err)
	}
	// Nova omits servers of a cell that is down: only the ports show that some are missing.
	for _, kind := range []cloud.Kind{cloud.KindServer, cloud.KindPort} {
		if err := has.Unknown[kind]; err != nil {
			return nil, fmt.Errorf("list the servers in the cloud: %w", err)
		}
	}
	return machines(has, leftovers.Cluster{Namespace: p.environment.ClusterNamespace(),
		Name: p.environment.ClusterName()})
}

func machines(has cloud.Inventory, of leftovers.Cluster) ([]provider.Machine, error) {
	servers, err := of.Servers(has)
	slices.SortStableFunc(servers, func(a, b cloud.Resource) int { return a.Created.Compare(b.Created) })
	var found []provider.Machine
	for _, r := range servers {
		found = append(found, provider.Machine{Name: r.Name})
	}
	return found, err
}

// Start is never called: a stopped server is the cloud's matter, and Machines returns none as stopped.
func (Provider) Start(_ context.Context, m provider.Machine) error {
	return fmt.Errorf("start server %s: not supported", m.Name)
}
