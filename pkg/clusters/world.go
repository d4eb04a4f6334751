// Package clusters observes the bootstrap cluster, the management cluster and the machines. A verb begins with one
// observation, judges it, and observes again right before an irreversible step.
package clusters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/lease"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// The names of the two clusters in messages.
const (
	BootstrapName  = "bootstrap"
	ManagementName = "management"
)

// Subject is the management cluster of a run, and how to find it.
type Subject struct {
	Identity
	BootstrapKubeconfig string // path; an existing cluster instead of kind
	// where ports that the Docker engine publishes are reached; empty: the host of DOCKER_HOST
	EngineAddress  string
	KubeconfigPath string // where the management cluster's kubeconfig is, or goes
	StateFolder    string // holds backups and a copy of the kubeconfig
	// Timeout bounds each wait for a cluster. A run retries a cluster that does not answer for a sixtieth of it.
	Timeout time.Duration
}

// BootstrapName returns the name of the kind cluster.
func (s Subject) BootstrapName() string { return owned.BootstrapCluster(s.Cluster) }

// RegistryName returns the name of the registry's container.
func (s Subject) RegistryName() string { return owned.Registry(s.Cluster) }

// Parts are the systems that a run works with. All are required.
type Parts struct {
	Docker   *docker.Client
	Kind     *kind.Provider
	Provider provider.Provider // creates the machines
	// Leases keep runs on other machines from working on the same clusters. Their creator releases them.
	Leases *lease.Set
	Now    func() time.Time
}

// World observes what a run works with: the two clusters, the engine, the machines. It keeps connections and no
// conclusions: to know the clusters' state, observe again.
type World struct {
	Subject
	Parts
	engine docker.Info // as it last described itself
	// how far the engine's clock was ahead of ours then; the engine dates containers by it
	ahead      time.Duration
	bootstrap  *kube.Cluster         // once it answered
	management *kube.Cluster         // once it answered and was proven to be this one
	pause      func(context.Context) // between two observations
}

// New returns a World without an observation.
func New(s Subject, p Parts) *World { return &World{Subject: s, Parts: p, pause: pauseBetweenLooks} }

// Requests returns how many API requests were sent so far through the current connections to both clusters, including
// those of the move.
func (w *World) Requests() int64 {
	var n int64
	for _, c := range []*kube.Cluster{w.bootstrap, w.management} {
		if c != nil {
			n += c.Requests()
		}
	}
	return n
}

// Connected returns one of the two clusters by its name, or an error if it has not answered.
func (w *World) Connected(name string) (*kube.Cluster, error) {
	c := map[string]*kube.Cluster{BootstrapName: w.bootstrap, ManagementName: w.management}[name]
	if c == nil {
		return nil, fmt.Errorf("%w: the %s cluster", ErrNotConnected, name)
	}
	return c, nil
}

// UseAndSave takes over the connections of an observation, and saves the management cluster's kubeconfig.
func (w *World) UseAndSave(o Observation) error {
	w.Use(o)
	if o.Management.Cluster == nil {
		return nil
	}
	return w.save(o.Management.Cluster.Kubeconfig) // a restarted load balancer publishes another port
}

// ErrNotConnected means that a cluster has not answered to this run so far.
var ErrNotConnected = errors.New("no such cluster has answered to this run")

// Use takes over the connections of an observation, for further reads. It writes no file.
func (w *World) Use(o Observation) {
	w.bootstrap, w.management = o.Bootstrap.Cluster, o.Management.Cluster
}

// AskEngine reads the Docker engine's description of itself, and remembers it and its clock.
func (w *World) AskEngine(ctx context.Context) (docker.Info, error) {
	info, err := w.Docker.Info(ctx)
	if err != nil {
		return info, err
	}
	if w.engine = info; !info.Time.IsZero() {
		w.ahead = info.Time.Sub(w.Now())
	}
	return info, nil
}
