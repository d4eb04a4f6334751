package provider

import (
	"context"
	"errors"
	"io"
)

// The optional parts of a provider. A verb checks whether the provider has a part, and says what it cannot do without
// it. The conformance test of pkg/provider/known verifies which provider has which.

// Cleaner is a provider whose own system may have leftovers of a cluster that can be deleted. Leftovers in the Docker
// engine are not its task: `cleanup` finds them itself.
type Cleaner interface {
	Leftovers(context.Context) (Leftovers, error)
}

// CleanupUnsupported is a provider whose own system cluster-init cannot search.
type CleanupUnsupported interface {
	// Find is the command that shows a person the leftovers of the cluster.
	Find(cluster string) string
}

// AdministratorReader is a provider that can read the administrator's kubeconfig from the cluster's machines.
type AdministratorReader interface {
	// Administrators returns the kubeconfigs in the cluster's running control-plane machines, in the order of their
	// creation. It returns what could be read together with the error for the rest. The caller must check whether a
	// kubeconfig is fit for use.
	Administrators(context.Context) ([]Administrator, error)
}

// Administrator is a kubeconfig from a control-plane machine.
type Administrator struct {
	Machine    string
	Kubeconfig []byte
	// Address is the host of the control plane, for a kubeconfig that names the machine's own loopback address. Empty
	// means not known.
	Address string
}

// AddressKeeper is a provider whose machines come up only with the addresses that they had, and may get others when
// they are started.
type AddressKeeper interface {
	// Misplaced returns the containers that run with another address than the cluster knows.
	Misplaced(context.Context) (Misplaced, error)
	// StartAll starts the stopped machines, and the stopped containers of adjacent: the registry, and the bootstrap
	// cluster's node. It first stops the containers of again, and each that has the address of another one. It calls
	// starting before each start. An error of starting ends StartAll.
	StartAll(ctx context.Context, adjacent, again []string, starting func(name, address string) error) error
	// Sibling returns the provider of another cluster in the same place.
	Sibling(cluster string) (Provider, AddressKeeper)
}

// Misplaced are names of containers that run with wrong addresses.
type Misplaced struct {
	Balancers, Machines []string // Machines are those of the control plane
	// All reports that no control-plane machine has its address: the cluster cannot answer.
	All bool
}

// ControlPlaneRunner is a provider that can run programs on control-plane machines, without their API server.
type ControlPlaneRunner interface {
	// ControlPlanes returns all control-plane machines that exist, also stopped ones, in the order of their creation.
	ControlPlanes(context.Context) ([]ControlPlane, error)
	// Commands are those for a person who has to start machines, or to delete lost ones.
	Commands() Commands
}

// AddressGiver is a ControlPlaneRunner in whose system an address of the API server leads to one machine.
type AddressGiver interface {
	// GiveAddress leads the address of the API server to a control-plane machine, the only one that is left, and
	// returns the address. It is empty if nothing was changed: the address leads there, or is none that leads to one
	// machine. It refuses an address that leads to another machine that exists.
	GiveAddress(ctx context.Context, machine string) (given string, err error)
}

// Commands are what a person types in the system of the machines. NAME is that of a machine.
type Commands struct {
	Start string
	// Delete deletes a machine with its data.
	Delete string
}

// Roles are the names of machines whose role is known, such as from a backup.
type Roles struct{ ControlPlanes, Workers []string }

// ErrNotReached is the error of ControlPlane.Run if programs cannot be run on this machine.
var ErrNotReached = errors.New("it cannot be reached")

// Shell runs programs as root on one machine, which the user named.
type Shell interface {
	// String is the name by which the user called the machine.
	String() string
	// Run is that of ControlPlane.
	Run(ctx context.Context, stdin io.Reader, args ...string) (string, error)
}

// ControlPlane is a control-plane machine that exists.
type ControlPlane interface {
	// Name is that of its Node.
	Name() string
	// Stopped reports whether it does not run.
	Stopped() bool
	// Run runs a program as root, with an input that may be nil, and returns what it writes to stdout.
	Run(ctx context.Context, stdin io.Reader, args ...string) (string, error)
}

// NameSharer is a provider that finds the machines and the load balancer of a cluster by the Cluster's name. The
// Cluster's namespace does not matter.
type NameSharer interface {
	// SharesNames reports whether two Clusters of one name share resources.
	SharesNames() bool
}

// UserDataLimiter is a provider whose cloud gives user data to machines.
type UserDataLimiter interface {
	// UserDataLimit is the size in bytes of the longest user data that the cloud takes.
	UserDataLimit() int
}

// Inspector is a provider that can inspect machines, for a diagnosis.
type Inspector interface {
	// Inspect returns reports about a machine, from the machine itself and from the system that it runs in. machine is
	// the name of Cluster API's infrastructure object. A missing machine is no error: the system may report why. What
	// could not be read is an error, returned together with the rest.
	Inspect(ctx context.Context, machine string) ([]Said, error)
}

// Said is one report about a machine.
type Said struct {
	// From is "fault" for the server's error, "cloud" for states and quotas of the cloud, "console" for the machine's
	// boot output, "journal" for the log of its node's services.
	From string
	Text string
}
