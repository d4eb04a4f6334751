package up

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// engineAddress is the machine on which the Docker engine publishes ports, when that is not this one: then nothing that
// it publishes on its loopback address, and no address of its networks, can be reached from here.
func (u *Run) engineAddress() string {
	if u.EngineAddress != "" {
		return u.EngineAddress
	}
	return u.found.engine.RemoteHost()
}

// apiServerAddress is where the bootstrap cluster's API server listens on the engine's machine; empty leaves it to kind,
// which takes loopback.
func (u *Run) apiServerAddress() string {
	if u.engineAddress() != "" {
		return "0.0.0.0"
	}
	return ""
}

// reach returns the first form of kubeconfig whose endpoint answers from here: as it is, and else through the port
// that the load balancer's container publishes. With an engine elsewhere the port comes first: addresses of its networks
// are not routed to this machine, and packets to them may be dropped in silence until the time is over.
func (u *Run) reach(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	first, second := u.reachDirectly, u.reachPublished
	if u.engineAddress() != "" {
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

func (u *Run) reachDirectly(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	c, err := connect(managementName, kubeconfig)
	if err != nil {
		return nil, err
	}
	return c, c.Reachable(ctx)
}

func (u *Run) reachPublished(ctx context.Context, kubeconfig []byte) (*kube.Cluster, error) {
	published, err := u.Docker.Port(ctx, u.Environment.ClusterName()+"-lb", "6443/tcp")
	if err != nil {
		return nil, err
	}
	host, port, err := publishedAt(published, u.engineAddress())
	if err != nil {
		return nil, err
	}
	rewritten, err := withServer(kubeconfig, host, port)
	if err != nil {
		return nil, err
	}
	return u.reachDirectly(ctx, rewritten)
}

// publishedAt returns how a published address, as the engine tells it, is reached from here: engine is the machine of an
// engine elsewhere.
func publishedAt(published, engine string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(published)
	if err != nil {
		return "", "", fmt.Errorf("reading the published address %q: %w", published, err)
	}
	if engine != "" {
		return engine, port, nil
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return host, port, nil
}

// withHost returns kubeconfig with another host and the same port.
func withHost(kubeconfig []byte, host string) ([]byte, error) {
	return withServer(kubeconfig, host, "")
}

// withServer returns kubeconfig with another address; the name that the certificate is checked against stays, so that it
// does not matter under which name this machine knows the engine. An empty port stays as it is.
func withServer(kubeconfig []byte, host, port string) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	for _, c := range config.Clusters {
		old, err := url.Parse(c.Server)
		if err != nil {
			return nil, fmt.Errorf("reading the server's address %q: %w", c.Server, err)
		}
		if c.TLSServerName == "" {
			c.TLSServerName = old.Hostname()
		}
		to := port
		if to == "" {
			to = old.Port()
		}
		c.Server = "https://" + net.JoinHostPort(host, to)
	}
	return clientcmd.Write(*config)
}
