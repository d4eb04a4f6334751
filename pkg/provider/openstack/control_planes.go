package openstack

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack/leftovers"
)

// ControlPlanesIn returns the control-plane machines of a cluster whose environment is not known, in the cloud that
// python-openstackclient would use, with the process's variables from lookup. endpoint is the host of its API server.
// shell reaches one of them.
func ControlPlanesIn(lookup func(string) (string, bool), namespace, cluster, endpoint string, known provider.Roles,
	shell provider.Shell) provider.ControlPlaneRunner {
	return controlPlanes{cluster: leftovers.Cluster{Namespace: namespace, Name: cluster}, endpoint: endpoint,
		known: known, shell: shell,
		connect: func(ctx context.Context) (project, error) {
			client, err := connectTo(ctx, lookup)
			if err != nil {
				return nil, err
			}
			return inventory.Project{Client: client}, nil
		}}
}

var _ provider.AddressGiver = controlPlanes{}

// controlPlanes lists servers. shell reaches one of them.
type controlPlanes struct {
	cluster  leftovers.Cluster
	endpoint string // host of its API server
	known    provider.Roles
	shell    provider.Shell
	connect  func(context.Context) (project, error)
}

// Commands are those of OpenStack's client.
func (controlPlanes) Commands() provider.Commands {
	return provider.Commands{Start: "openstack server start NAME", Delete: "openstack server delete --wait NAME"}
}

// deciding are the kinds that prove which servers the cluster has: without one of them a server may be missed.
func deciding() []cloud.Kind {
	return []cloud.Kind{cloud.KindServer, cloud.KindPort, cloud.KindServerGroup, cloud.KindSecurityGroup,
		cloud.KindNetwork, cloud.KindSubnet, cloud.KindFloatingIP}
}

// ControlPlanes lists the servers that may be control-plane machines, in the order of their creation. It refuses, with
// the code fault.RestoreRefused, if shell reaches none of them.
func (c controlPlanes) ControlPlanes(ctx context.Context) ([]provider.ControlPlane, error) {
	has, err := c.inventory(ctx)
	switch what := "list the servers of the cluster in the cloud"; {
	case err != nil && fault.HintOf(err) != "": // credentials that are missing or refused
		return nil, fmt.Errorf("%s: %w", what, err)
	case err != nil:
		return nil, notAnswered(what, err)
	}
	for _, kind := range deciding() {
		if err := has.Unknown[kind]; err != nil {
			return nil, notAnswered(fmt.Sprintf("list each %s in the cloud", kind), err)
		}
	}
	servers := c.cluster.ControlPlanes(has, c.known)
	slices.SortStableFunc(servers, func(a, b cloud.Resource) int { return a.Created.Compare(b.Created) })
	reached, err := c.reached(ctx, servers)
	if err != nil {
		return nil, err
	}
	var found []provider.ControlPlane
	for _, server := range servers {
		m := controlPlane{server: server}
		if server.Name == reached {
			m.shell = c.shell
		}
		found = append(found, m)
	}
	return found, nil
}

func (c controlPlanes) inventory(ctx context.Context) (cloud.Inventory, error) {
	in, err := c.connect(ctx)
	if err != nil {
		return cloud.Inventory{}, err
	}
	return in.Inventory(ctx)
}

// GiveAddress associates the floating IP of the API server with a server. It leaves other addresses alone: a load
// balancer or keepalived leads them to a machine.
func (c controlPlanes) GiveAddress(ctx context.Context, machine string) (string, error) {
	in, err := c.connect(ctx)
	if err != nil {
		return "", err
	}
	return addresses{project: in, given: c.endpoint, cluster: c.cluster}.give(ctx, machine)
}

// hostnameFile has the host name of a machine, whatever programs it has.
const hostnameFile = "/proc/sys/kernel/hostname"

// askBound limits the first question to the machine: its sshd may answer while its disk does not.
const askBound = time.Minute

// ask returns the host name of the machine that shell reaches.
func (c controlPlanes) ask(ctx context.Context) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	said, err := c.shell.Run(bounded, nil, "cat", hostnameFile)
	if err == nil || ctx.Err() != nil {
		return said, err
	}
	err = fmt.Errorf("ask the machine that --ssh names for its name: %w", err)
	if fault.HintOf(err) != "" {
		return "", err
	}
	// a cloud's image may log in root only to say which user to take
	return "", fault.Retryable(err, fault.MachineUnreachable, fmt.Sprintf("See what a login there says. This must "+
		"print root: ssh -o BatchMode=yes %s sudo -n whoami", c.shell))
}

// reached returns the name of the server that shell reaches. Its own host name says which it is: an address may be that
// of another machine meanwhile.
func (c controlPlanes) reached(ctx context.Context, servers []cloud.Resource) (string, error) {
	said, err := c.ask(ctx)
	if err != nil {
		return "", err
	}
	host := strings.TrimSpace(said)
	short, _, _ := strings.Cut(host, ".")
	var names []string
	for _, name := range []string{host, short} { // some images give it a domain
		for _, server := range servers {
			if server.Name == name && name != "" {
				return name, nil
			}
		}
	}
	for _, server := range servers {
		names = append(names, server.Title())
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	return "", fault.New(fault.RestoreRefused, fmt.Sprintf("%s is machine %q, and not a control-plane "+
		"machine of %s/%s in the project. The project has: %s", c.shell, host, c.cluster.Namespace, c.cluster.Name,
		strings.Join(names, ", ")),
		"Give the address of the control-plane machine that is left, and credentials of the project that it is in "+
			"(OS_CLOUD).")
}

// controlPlane is the server of a control-plane machine.
type controlPlane struct {
	server cloud.Resource
	shell  provider.Shell // nil: the shell reaches another machine
}

// Name is that of the Node, too.
func (c controlPlane) Name() string { return c.server.Title() }

// Stopped reports whether the cloud says that the server does not run.
func (c controlPlane) Stopped() bool {
	return slices.Contains([]string{"SHUTOFF", "PAUSED", "SUSPENDED", "SHELVED", "SHELVED_OFFLOADED"}, c.server.Status)
}

// Run runs a program as root. It fails with provider.ErrNotReached on all machines but one.
func (c controlPlane) Run(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	if c.shell == nil {
		return "", fmt.Errorf("run a program on server %s: %w", c.Name(), provider.ErrNotReached)
	}
	return c.shell.Run(ctx, stdin, args...)
}
