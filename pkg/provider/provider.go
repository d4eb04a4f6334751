// Package provider is the seam for infrastructure: all that `up` and `cleanup` know of the provider of a management
// cluster's machines. One package below it for each provider; no other package switches on a provider's name.
package provider

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrNotSupported says that nobody can tell which machines a cluster has. It is not the failure of a question: that is
// another error.
var ErrNotSupported = errors.New("the provider cannot be asked which machines a cluster has")

// Provider makes machines, for the one management cluster that it was made for.
type Provider interface {
	// Place is where the machines are, as people say it: "Docker", "OpenStack", "AWS".
	Place() string
	// ReachesEngine reports whether machines reach what this machine's Docker engine publishes in its networks: the
	// registry, say.
	ReachesEngine() bool
	// Preflight asks whether the cluster can be made; its error joins all that is lacking. It changes nothing.
	Preflight(context.Context, Reporter) error
	// Kinds are those of the provider that say how far the cluster is, besides Cluster API's own. They have no version:
	// that is the one that is served.
	Kinds() []schema.GroupVersionResource
	// Machines returns what exists for the cluster, in the order in which it was made; ErrCannotAsk when that cannot be
	// known.
	Machines(context.Context) ([]Machine, error)
	// Start starts a machine that Machines returned as Stopped.
	Start(context.Context, Machine) error
}

// Machine is a machine that exists for a cluster, or what stands before its machines.
type Machine struct {
	Name string
	// Stopped reports whether it is stopped and Start can start it.
	Stopped bool
	// Paused reports whether it exists, was frozen by somebody, and answers nobody.
	Paused bool
}

// Reporter is told what a preflight sees.
type Reporter interface {
	Progress(format string, args ...any)
	Warn(format string, args ...any)
}
