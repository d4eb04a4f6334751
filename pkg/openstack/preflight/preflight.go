// Package preflight checks whether a cluster can be made in an OpenStack cloud, before anything is created.
package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/loadbalancer/v2/loadbalancers"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// Needs is what a cluster consists of. Where an id or a name is allowed, a UUID is taken as an id.
type Needs struct {
	// Tag marks what was made for this cluster, except server groups. Cluster API's provider sets it.
	Tag string
	// ControlPlane and Workers are the machines.
	ControlPlane, Workers Machines
	// Pools are further pools of workers.
	Pools []Machines
	// Image of the machines; KeyPair may be empty.
	Image, KeyPair string
	// RootVolume is the disk of each machine; its zero value means that of the flavor.
	RootVolume RootVolume
	// ExternalNetwork has the floating IPs and the router's gateway. Empty means none is needed.
	ExternalNetwork string
	// Network, Subnet and Router exist already. Empty ones are created, or not needed.
	Network, Subnet, Router string
	// FloatingIP is an existing address of the API server. It may be empty.
	FloatingIP string
	// AddressDescription is the description of the floating IP or the port that is made for the API server. A run that
	// was killed may have left it without the tag.
	AddressDescription string
	// CheckAddress checks whether the API server can have its virtual address, once Network and Subnet are found. It is
	// nil if it has none.
	CheckAddress func(context.Context) error
	// LoadBalancers and Volumes say whether the services for them are needed.
	LoadBalancers, Volumes bool
	// ServerGroups are the names of those that are made.
	ServerGroups []string
	// Resources are the counts of what is created.
	Resources Resources
}

// Machines are those of one role.
type Machines struct {
	Count  int
	Flavor string
	Value  string   // the value that has the flavor, if it is not the one of its role in cluster.openstack
	Zones  []string // of compute; empty: any
}

// RootVolume is a volume that a machine boots from. Type and Zone may be empty.
type RootVolume struct {
	GiB        int // zero: none
	Type, Zone string
}

// Resources are counts of what the whole cluster has when it is built. What follows from flavors (cores, memory) and
// from the provider's own security group rules is not included.
type Resources struct {
	Servers, ServerGroups, Ports, Networks, Subnets, Routers, SecurityGroups, FloatingIPs, Volumes, Gigabytes int
}

// Report is the result of a preflight, except for problems.
type Report struct {
	// Notes are observations, and checks that were not possible.
	Notes []string
	// Warnings do not stop this run, but may stop a later one.
	Warnings []string
}

// Run checks what would stop the cluster from being made. The error joins one fault.CloudLacks for each problem, and
// openstack.Explain's error for each failed query. A forbidden query is a note. What the cluster has already counts as
// existing. Run stops early if the cluster has all its machines, or if the cloud does not answer.
func Run(ctx context.Context, client *openstack.Client, needs Needs) (Report, error) {
	i := &inspection{client: client, needs: needs}
	i.credentials()
	i.present(ctx)
	if i.has.servers >= needs.Resources.Servers && needs.Resources.Servers > 0 && len(i.problems) == 0 {
		i.note("the cluster's %d servers are there already", i.has.servers)
		return i.report, nil
	}
	for _, check := range []func(context.Context){
		i.services, i.machines, i.keyPair, i.zones, i.externalNetwork, i.ownNetwork, i.floatingIP, i.volumes, i.quotas,
	} {
		if i.unreachable || ctx.Err() != nil { // each further query would run into its own timeout
			break
		}
		check(ctx)
	}
	return i.report, errors.Join(i.problems...)
}

// inspection is one running preflight.
type inspection struct {
	client      *openstack.Client
	needs       Needs
	has         present
	flavors     []flavor // of the machines of each role, once found
	report      Report
	problems    []error
	unreachable bool
}

func (i *inspection) note(format string, args ...any) {
	i.report.Notes = append(i.report.Notes, fmt.Sprintf(format, args...))
}

func (i *inspection) warn(format string, args ...any) {
	i.report.Warnings = append(i.report.Warnings, fmt.Sprintf(format, args...))
}

// problem records a problem: what is wanted and what exists.
func (i *inspection) problem(hint, format string, args ...any) {
	i.problems = append(i.problems, fault.New(fault.CloudLacks, fmt.Sprintf(format, args...), hint))
}

// asked reports whether a query was answered. A forbidden one is noted, any other failure is a problem.
func (i *inspection) asked(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case openstack.Status(err) == http.StatusForbidden:
		i.note("the cloud does not let these credentials look at %s: not checked", what)
	default:
		explained := openstack.Explain("asking the cloud for "+what, err)
		i.unreachable = i.unreachable || fault.CodeOf(explained) != fault.Unknown
		i.problems = append(i.problems, explained)
	}
	return false
}

// all reads every page of a list.
func all[T any](ctx context.Context, pages pagination.Pager, extract func(pagination.Page) ([]T, error)) ([]T, error) {
	page, err := pages.AllPages(ctx)
	if err != nil {
		return nil, err
	}
	return extract(page)
}

// credentials notes the project, and warns of an administrator's credentials.
func (i *inspection) credentials() {
	i.note("logged in to project %s", cmp.Or(i.client.ProjectName, i.client.ProjectID))
	if slices.Contains(i.client.Roles, "admin") {
		i.warn("these are credentials of an administrator, and the management cluster will keep them: better use a " +
			"member of the project, or an application credential")
	}
}

// services checks the optional services of a cloud.
func (i *inspection) services(ctx context.Context) {
	if i.needs.LoadBalancers {
		i.loadBalancers(ctx)
	}
	if i.needs.Volumes && i.client.BlockStorage == nil {
		i.problem(
			"Use the disks of flavors (cluster.openstack.root_volume.size=0), and disable the component cinder-csi.",
			"volumes are wanted, and the catalog has no block-storage service (Cinder)")
	}
}

// loadBalancers checks whether the cloud has load balancers, and lets the user list them. By Octavia's default policies
// the role member alone may not.
func (i *inspection) loadBalancers(ctx context.Context) {
	const without = "use another way to the API server (cluster.openstack.api_server.mode), and no load balancers for " +
		"Services."
	if i.client.LoadBalancer == nil {
		i.problem("U"+without[1:], "load balancers are wanted, and the catalog has no load-balancer service (Octavia)")
		return
	}
	err := loadbalancers.List(i.client.LoadBalancer, loadbalancers.ListOpts{Limit: 1}).EachPage(ctx,
		func(context.Context, pagination.Page) (bool, error) { return false, nil }) // the first one says it
	if openstack.Status(err) == http.StatusForbidden {
		i.problem("Ask the operator of the cloud for the role load-balancer_member in the project, or "+without,
			"load balancers are wanted, and the cloud does not let these credentials list them")
		return
	}
	i.asked("load balancers", err)
}
