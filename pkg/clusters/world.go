// Package clusters observes the bootstrap cluster, the management cluster and the machines. It is the only observer of
// these. A verb begins with one observation, judges it, and observes again right before anything that cannot be
// undone.
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

// The names by which a run speaks of the two clusters.
const (
	BootstrapName  = "bootstrap"
	ManagementName = "management"
)

// Subject is the management cluster that a run is about, and how it is found.
type Subject struct {
	Identity
	BootstrapKubeconfig string // path; an existing cluster instead of kind
	// where ports that the Docker engine publishes are reached; empty: the host of DOCKER_HOST
	EngineAddress  string
	KubeconfigPath string // where the management cluster's kubeconfig is, or goes
	StateFolder    string // backups go there, and a copy of the kubeconfig
	// Timeout bounds each wait for a cluster. What does not answer is asked again for a sixtieth of it.
	Timeout time.Duration
}

// BootstrapName is the name of the kind cluster.
func (s Subject) BootstrapName() string { return owned.BootstrapCluster(s.Cluster) }

// RegistryName is the name of the registry's container.
func (s Subject) RegistryName() string { return owned.Registry(s.Cluster) }

// Parts are the systems that a run works with. All are required.
type Parts struct {
	Docker   *docker.Client
	Kind     *kind.Provider
	Provider provider.Provider // makes the machines
	// Leases keep runs on other machines from working on the same clusters. Whoever made them gives them back.
	Leases *lease.Set
	Now    func() time.Time
}

// World is where a run looks at what there is: the two clusters, the engine, the machines. It keeps connections, and no
// conclusions: whoever needs to know how far the clusters are looks again.
type World struct {
	Subject
	Parts
	engine docker.Info // as it last described itself
	// by how much the engine's clock was ahead of ours then; containers are dated by it
	ahead      time.Duration
	bootstrap  *kube.Cluster         // once it answered
	management *kube.Cluster         // once it answered and was proven to be this one
	pause      func(context.Context) // between two looks
}

// New returns a world that nobody has looked at yet.
func New(s Subject, p Parts) *World { return &World{Subject: s, Parts: p, pause: pauseBetweenLooks} }

// Requests is how many API requests were sent so far to both clusters, the move included.
func (w *World) Requests() int64 {
	var n int64
	for _, c := range []*kube.Cluster{w.bootstrap, w.management} {
		if c != nil {
			n += c.Requests()
		}
	}
	return n
}

// Connected returns one of the two clusters, by its name; an error where none was seen to answer.
func (w *World) Connected(name string) (*kube.Cluster, error) {
	c := map[string]*kube.Cluster{BootstrapName: w.bootstrap, ManagementName: w.management}[name]
	if c == nil {
		return nil, fmt.Errorf("%w: the %s cluster", ErrNotConnected, name)
	}
	return c, nil
}

// UseAndSave takes over the connections that were made for an observation.
func (w *World) UseAndSave(o Observation) error {
	w.Use(o)
	if o.Management.Cluster == nil {
		return nil
	}
	return w.save(o.Management.Cluster.Kubeconfig) // a load balancer that was started again publishes another port
}

// ErrNotConnected says that a cluster has not answered to this run, so far.
var ErrNotConnected = errors.New("no such cluster has answered to this run")

// Use takes over the connections that were made for an observation, for a look at more: no file is written.
func (w *World) Use(o Observation) {
	w.bootstrap, w.management = o.Bootstrap.Cluster, o.Management.Cluster
}

// AskEngine has the Docker engine describe itself.
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
