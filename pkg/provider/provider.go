// Package provider is the interface to infrastructure: everything that `up` and `cleanup` know about the provider of a
// management cluster's machines. Each provider has one package below it. No other package switches on a provider's
// name.
package provider

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrNotSupported reports that a provider cannot list the machines of a cluster. A failed request is another error.
var ErrNotSupported = errors.New("the provider cannot list the machines of a cluster")

// Provider makes machines for one management cluster.
type Provider interface {
	// Place is where the machines are, for people: "Docker", "OpenStack", "AWS".
	Place() string
	// ReachesEngine reports whether machines reach what this machine's Docker engine publishes in its networks, such as
	// the registry.
	ReachesEngine() bool
	// Preflight checks whether the cluster can be made. Its error joins everything that is missing. It changes nothing.
	Preflight(context.Context, Reporter) error
	// Kinds are the provider's kinds that report the state of the cluster, in addition to Cluster API's own. They have
	// no version: the served one is used.
	Kinds() []schema.GroupVersionResource
	// Machines returns the machines of the cluster, in the order of their creation. It returns ErrNotSupported if they
	// cannot be known.
	Machines(context.Context) ([]Machine, error)
	// Start starts a machine that Machines returned as Stopped.
	Start(context.Context, Machine) error
}

// Machine is a machine of a cluster, or the load balancer in front of its machines.
type Machine struct {
	Name string
	// Stopped reports whether it is stopped and Start can start it.
	Stopped bool
	// Paused reports whether it exists and is paused, so that it does not answer.
	Paused bool
}

// Reporter receives the observations of a preflight.
type Reporter interface {
	Progress(format string, args ...any)
	Warn(format string, args ...any)
}
