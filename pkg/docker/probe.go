package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ProbePrivileged runs args in a temporary privileged container of an image that the engine already has. A fault
// DockerPrivileged reports that the engine refuses such containers. The command itself must succeed.
func (c *Client) ProbePrivileged(ctx context.Context, image string, args ...string) error {
	run := append([]string{"run", "--rm", "--privileged", "--pull", "never", "--network", "none", image}, args...)
	_, err := c.output(ctx, run...)
	if err == nil || fault.CodeOf(err) == fault.DockerUnreachable || isNotFound(err) {
		return err
	}
	if e, ok := errors.AsType[*CommandError](err); ok && refusedToStart(e) {
		err = fmt.Errorf("the Docker engine does not run privileged containers: %w", e)
		return fault.Wrap(err, fault.DockerPrivileged, hintPrivileged)
	}
	return fmt.Errorf("probe privileged containers: %w", err)
}

// refusedToStart distinguishes a container that did not start from one whose command failed: for the former the CLI
// exits with 125 to 128, or stderr has the daemon's answer or the error of the runtime's init.
func refusedToStart(e *CommandError) bool {
	return e.ExitCode >= 125 && e.ExitCode <= 128 ||
		strings.Contains(e.Stderr, "unable to apply caps") || strings.Contains(e.Stderr, "Error response from daemon")
}

// Port returns the published "host:port" of a container's port, e.g. "6443/tcp". The error is ErrNotFound if it is not
// published.
func (c *Client) Port(ctx context.Context, container, port string) (string, error) {
	found, err := c.Inspect(ctx, container)
	if err != nil {
		return "", err
	}
	if addresses := found.Ports[port]; len(addresses) > 0 {
		return addresses[0], nil
	}
	return "", fmt.Errorf("port %s of container %s is not published: %w", port, container, ErrNotFound)
}
