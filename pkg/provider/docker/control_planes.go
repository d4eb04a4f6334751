package docker

import (
	"context"
	"fmt"
	"io"

	engine "github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/output"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

var _ provider.ControlPlaneRunner = Provider{}

// outputBytes is far more than a manifest or the answer of a program.
const outputBytes = 1 << 20

// controlPlane is the container of a control-plane machine.
type controlPlane struct {
	container string
	stopped   bool
	engine    Engine
}

// ControlPlanes returns the containers of all control-plane machines, also stopped ones, in the order of their
// creation. A container without our marker is fault.ClusterForeign.
func (p Provider) ControlPlanes(ctx context.Context) ([]provider.ControlPlane, error) {
	all, err := p.containers(ctx)
	if err != nil {
		return nil, err
	}
	var found []provider.ControlPlane
	for _, c := range all {
		if c.Labels[kind.RoleLabel] == controlPlaneRole {
			found = append(found, controlPlane{c.Name, !c.Running || c.Status == "paused", p.Engine})
		}
	}
	return found, nil
}

// Commands are those of cluster-init and of Docker.
func (Provider) Commands() provider.Commands {
	return provider.Commands{Start: "cluster-init start", Delete: "docker rm --force --volumes NAME"}
}

// Name is that of the Node, too.
func (c controlPlane) Name() string { return c.container }

// Stopped reports whether the container does not run, or is paused.
func (c controlPlane) Stopped() bool { return c.stopped }

// Run runs a program in the container as root, and returns what it writes to stdout. The error has the end of stderr.
func (c controlPlane) Run(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	out := &output.Whole{Limit: outputBytes}
	if err := c.engine.Exec(ctx, c.container, args, engine.ExecOptions{Stdin: stdin, Stdout: out}); err != nil {
		return "", fmt.Errorf("run %s: %w", args[0], err)
	}
	return out.String(), nil
}
