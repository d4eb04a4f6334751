package docker

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
)

// endpoint returns how the CLI reaches the engine: DOCKER_HOST, which wins, or else the address of the context that the
// CLI uses (rule from docker/cli, cli/command: resolveContextName). Empty means the default socket.
func (c *Client) endpoint(ctx context.Context, contextName string) (string, error) {
	if host := c.variable("DOCKER_HOST"); host != "" {
		return host, nil
	}
	if contextName == "" || contextName == "default" {
		return "", nil
	}
	host, err := c.output(ctx, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}", contextName)
	if err != nil {
		return "", fmt.Errorf("inspect docker context %s: %w", contextName, err)
	}
	return host, nil
}

// variable returns an environment variable as the CLI sees it.
func (c *Client) variable(name string) string {
	for _, entry := range slices.Backward(c.Env) {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return os.Getenv(name)
}

// Local reports whether the engine is reached through a socket of this machine. Only then are this machine's disk,
// limits and ports also the engine's.
func (i Info) Local() bool {
	scheme, _, found := strings.Cut(i.Endpoint, "://")
	switch {
	case i.Endpoint == "":
		return true
	case !found:
		return false // HOST:PORT is short for tcp://HOST:PORT
	}
	return scheme == "unix" || scheme == "npipe" || scheme == "fd"
}

// RemoteHost returns the name or address, as this machine knows it, of the machine on which the engine publishes ports.
// It is empty for this machine: a socket, or a loopback address, such as that of a dind container in the same pod.
func (i Info) RemoteHost() string {
	if i.Local() {
		return ""
	}
	endpoint := i.Endpoint
	if !strings.Contains(endpoint, "://") {
		endpoint = "tcp://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return ""
	}
	return host
}

// ReachedAt returns how to reach a published address, as the engine reports it, from here. engine is the RemoteHost,
// empty for this machine.
func ReachedAt(published, engine string) (host, port string, err error) {
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
