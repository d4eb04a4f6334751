package clusters

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// ReachedAt returns the host of the Docker engine's published ports. Empty means that the engine is on this machine, or
// that AskEngine has not succeeded yet. The loopback address and networks of a remote engine cannot be reached from
// here.
func (w *World) ReachedAt() string {
	if w.EngineAddress != "" {
		return w.EngineAddress
	}
	return w.engine.RemoteHost()
}

// APIServerAddress returns the address on which the bootstrap cluster's API server listens on the engine's machine.
// Empty leaves the choice to kind, which uses loopback.
func (w *World) APIServerAddress() string {
	if w.ReachedAt() != "" {
		return "0.0.0.0"
	}
	return ""
}

// grace bounds the wait for the preferred address after the other one has answered. It is short because the wait for
// the management cluster's API allows one second for each attempt.
const grace = 250 * time.Millisecond

// reach returns a connection through an endpoint that answers from here: the kubeconfig's own, or the port that the
// load balancer's container publishes. It tries both at the same time, because packets to the engine's networks may be
// dropped silently, as on macOS and with a rootless engine. If both answer, it prefers the kubeconfig's own endpoint;
// with a remote engine, the published port.
func (w *World) reach(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	preferred, other := reachAt, w.reachPublished
	if w.ReachedAt() != "" {
		preferred, other = other, preferred
	}
	type answer struct {
		cluster *kube.Cluster
		err     error
	}
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	ask := func(reach func(context.Context, []byte) (*kube.Cluster, error)) <-chan answer {
		answered := make(chan answer, 1)
		asking.Go(func() {
			c, err := reach(ctx, kubeconfig)
			answered <- answer{c, err}
		})
		return answered
	}
	first, second := ask(preferred), ask(other)
	var one, two answer
	select {
	case one = <-first:
		if one.err == nil {
			return one.cluster, nil
		}
		two = <-second
	case two = <-second:
		if two.err != nil {
			one = <-first
			break
		}
		select {
		case one = <-first:
		case <-time.After(grace):
			return two.cluster, nil
		}
	}
	switch {
	case one.err == nil:
		return one.cluster, nil
	case two.err == nil:
		return two.cluster, nil
	case errors.Is(one.err, docker.ErrNotFound):
		return nil, two.err
	}
	return nil, one.err
}

// reachAt connects to the management cluster at the address of a kubeconfig.
func reachAt(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	c, err := Connect(ManagementName, kubeconfig)
	if err != nil {
		return nil, err
	}
	return c, c.Reachable(ctx)
}

func (w *World) reachPublished(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	published, err := w.Docker.Port(ctx, owned.LoadBalancer(w.Cluster), publishedPort)
	if err != nil {
		return nil, err
	}
	rewritten, err := atPublished(kubeconfig, published, w.ReachedAt())
	if err != nil {
		return nil, err
	}
	return reachAt(ctx, rewritten)
}

// atPublished returns a kubeconfig with an address that the engine publishes, as this machine reaches it. engine is the
// machine of a remote engine.
func atPublished(kubeconfig []byte, published, engine string) ([]byte, error) {
	host, port, err := docker.ReachedAt(published, engine)
	if err != nil {
		return nil, err
	}
	return kube.WithServer(kubeconfig, host, port)
}
