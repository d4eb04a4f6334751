package world

import (
	"context"
	"errors"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// ReachedAt is the machine on which the Docker engine publishes ports, when that is not this one: then nothing that
// it publishes on its loopback address, and no address of its networks, can be reached from here.
func (w *World) ReachedAt() string {
	if w.EngineAddress != "" {
		return w.EngineAddress
	}
	return w.engine.RemoteHost()
}

// APIServerAddress is where the bootstrap cluster's API server listens on the engine's machine; empty leaves it to kind,
// which takes loopback.
func (w *World) APIServerAddress() string {
	if w.ReachedAt() != "" {
		return "0.0.0.0"
	}
	return ""
}

// reach returns the first form of kubeconfig whose endpoint answers from here: as it is, and else through the port
// that the load balancer's container publishes. With an engine elsewhere the port comes first: addresses of its networks
// are not routed to this machine, and packets to them may be dropped in silence until the time is over.
func (w *World) reach(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	first, second := w.reachDirectly, w.reachPublished
	if w.ReachedAt() != "" {
		first, second = second, first
	}
	c, err := first(ctx, kubeconfig)
	if err == nil {
		return c, nil
	}
	c, secondErr := second(ctx, kubeconfig)
	switch {
	case secondErr == nil:
		return c, nil
	case errors.Is(secondErr, docker.ErrNotFound):
		return nil, err
	case errors.Is(err, docker.ErrNotFound):
		return nil, secondErr
	}
	return nil, err
}

func (w *World) reachDirectly(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	c, err := connect(ManagementName, kubeconfig)
	if err != nil {
		return nil, err
	}
	return c, c.Reachable(ctx)
}

func (w *World) reachPublished(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	published, err := w.Docker.Port(ctx, w.Environment.ClusterName()+"-lb", "6443/tcp")
	if err != nil {
		return nil, err
	}
	host, port, err := docker.ReachedAt(published, w.ReachedAt())
	if err != nil {
		return nil, err
	}
	rewritten, err := kube.WithServer(kubeconfig, host, port)
	if err != nil {
		return nil, err
	}
	return w.reachDirectly(ctx, rewritten)
}
