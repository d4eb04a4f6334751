package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const (
	readyTime = 30 * time.Second
	pollTime  = 100 * time.Millisecond
)

// Registry is a running registry and the connection to write to it.
type Registry struct {
	Name   string // of the container and its volume
	Host   string // host:port as the docker network sees it; plain http, read-only
	Image  string // reference of its image: this binary in a container, usable for probes
	IPv4   string // address in the network; changes when the container is recreated
	tunnel *Tunnel
}

// Host is the address of a cluster's registry in the docker network.
func Host(cluster string) string { return fmt.Sprintf("%s:%d", owned.Registry(cluster), Port) }

// RemoteOptions are the options with which go-containerregistry reads and writes this registry: requests to any host
// reach it.
func (r *Registry) RemoteOptions() []remote.Option {
	return []remote.Option{remote.WithTransport(r.tunnel), remote.WithJobs(maxTunnels)}
}

// Close ends the tunnel. The registry keeps running.
func (r *Registry) Close() { r.tunnel.Close() }

// waitReady waits until the registry answers through the tunnel, and reads its address.
func (r *Registry) waitReady(ctx context.Context, d *docker.Client, network string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTime, errNotReady)
	defer cancel()
	tick := time.NewTicker(pollTime)
	defer tick.Stop()
	var last error
	for {
		if last = r.ping(ctx); last == nil {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), errNotReady) {
				return fmt.Errorf("wait for registry %s: %w", r.Name, context.Cause(ctx))
			}
			err := fmt.Errorf("registry %s did not answer within %s: %w", r.Name, readyTime, last)
			return fault.Retryable(err, fault.DockerFailed, "Check its log: docker logs "+r.Name)
		}
	}
	container, err := d.Inspect(ctx, r.Name)
	if err != nil {
		return err
	}
	r.IPv4 = container.Networks[network].IPv4
	return nil
}

var errNotReady = errors.New("registry not ready in time")

func (r *Registry) ping(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Host+"/v2/", nil)
	if err != nil {
		return err
	}
	resp, err := r.tunnel.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /v2/: %s", resp.Status)
	}
	return nil
}
