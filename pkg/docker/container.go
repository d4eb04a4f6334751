package docker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Mount is a mount of a container. Type is "bind", "volume" or "tmpfs".
type Mount struct {
	Type     string
	Source   string // host path of a bind, name of a volume
	Target   string
	ReadOnly bool
}

// RunOptions describes a detached container.
type RunOptions struct {
	Name       string
	Image      string
	Entrypoint string // empty: the image's
	Args       []string
	Labels     map[string]string
	Network    string // empty: the default bridge
	Mounts     []Mount
	Restart    string // a docker restart policy, e.g. "unless-stopped"
	// Ephemeral has the engine remove the container when it stops.
	Ephemeral bool
	// Env reaches the container through the CLI's environment, so that a process list does not show its values.
	Env        map[string]string
	Privileged bool
	// Hardened drops all capabilities, forbids new privileges and makes the root file system read-only.
	Hardened bool
}

// Run starts a detached container and returns its ID. The image must exist: Run pulls nothing.
func (c *Client) Run(ctx context.Context, o RunOptions) (string, error) {
	args := []string{"run", "--detach", "--pull", "never", "--name", o.Name}
	for _, k := range slices.Sorted(maps.Keys(o.Labels)) {
		args = append(args, "--label", k+"="+o.Labels[k])
	}
	if o.Network != "" {
		args = append(args, "--network", o.Network)
	}
	if o.Restart != "" {
		args = append(args, "--restart", o.Restart)
	}
	if o.Ephemeral {
		args = append(args, "--rm")
	}
	if o.Entrypoint != "" {
		args = append(args, "--entrypoint", o.Entrypoint)
	}
	if o.Privileged {
		args = append(args, "--privileged")
	}
	if o.Hardened {
		args = append(args, "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
	}
	for _, m := range o.Mounts {
		args = append(args, "--mount", m.flag())
	}
	var env []string
	for _, k := range slices.Sorted(maps.Keys(o.Env)) {
		args = append(args, "--env", k)
		env = append(env, k+"="+o.Env[k])
	}
	var out strings.Builder
	err := c.run(ctx, call{args: append(append(args, o.Image), o.Args...), env: env, stdout: &out})
	if err != nil {
		return "", fmt.Errorf("start container %s: %w", o.Name, err)
	}
	return strings.TrimSpace(out.String()), nil
}

func (m Mount) flag() string {
	parts := []string{"type=" + m.Type}
	if m.Source != "" {
		parts = append(parts, "source="+m.Source)
	}
	parts = append(parts, "target="+m.Target)
	if m.ReadOnly {
		parts = append(parts, "readonly")
	}
	return strings.Join(parts, ",")
}

// Container is the result of inspect for one container.
type Container struct {
	ID       string
	Name     string
	Image    string // the reference it was started from
	ImageID  string
	Created  time.Time
	Running  bool
	Status   string // created, running, restarting, exited, ...
	ExitCode int
	Error    string // why the engine could not start it, if it could not
	Labels   map[string]string
	Mounts   []Mount
	Networks map[string]Endpoint
	// Ports maps "6443/tcp" to the published "host:port" addresses.
	Ports map[string][]string
}

// Endpoint is a container's attachment to one network.
type Endpoint struct {
	NetworkID string // empty until the container's first start
	IPv4      string
	IPv6      string
}

// HasMount reports whether the container has a mount at target.
func (c Container) HasMount(target string) bool {
	return slices.ContainsFunc(c.Mounts, func(m Mount) bool { return m.Target == target })
}

// Inspect returns one container, by name or ID. The error is ErrNotFound if there is none.
func (c *Client) Inspect(ctx context.Context, container string) (Container, error) {
	out, err := c.output(ctx, "container", "inspect", container)
	if err != nil {
		return Container{}, fmt.Errorf("inspect container %s: %w", container, err)
	}
	raw, err := decodeSingle[rawContainer](out)
	if err != nil {
		return Container{}, fmt.Errorf("inspect container %s: %w", container, err)
	}
	return raw.container(), nil
}

// Start starts a stopped container.
func (c *Client) Start(ctx context.Context, container string) error {
	if _, err := c.output(ctx, "start", container); err != nil {
		return fmt.Errorf("start container %s: %w", container, err)
	}
	return nil
}

// Stop stops a running container. The engine kills what has not ended after its grace period.
func (c *Client) Stop(ctx context.Context, container string) error {
	if _, err := c.output(ctx, "stop", container); err != nil {
		return fmt.Errorf("stop container %s: %w", container, err)
	}
	return nil
}

const (
	// removalBound is how long to wait for a removal that another process has begun: the engine may have a large
	// container to delete.
	removalBound = time.Minute
	removalPause = 250 * time.Millisecond // between two checks
)

// Remove stops and removes containers and their anonymous volumes. A missing container is no error. If the engine is
// already removing one, for a provider's controller, Remove waits up to removalBound.
func (c *Client) Remove(ctx context.Context, containers ...string) error {
	for _, name := range containers {
		if err := c.remove(ctx, name); err != nil {
			return fmt.Errorf("remove container %s: %w", name, err)
		}
	}
	return nil
}

func (c *Client) remove(ctx context.Context, container string) error {
	_, err := c.output(ctx, "rm", "--force", "--volumes", container)
	if isBeingRemoved(err) {
		err = c.awaitRemoval(ctx, container, err)
	}
	if isNotFound(err) {
		return nil
	}
	return err
}

// awaitRemoval waits until the engine has removed a container, and removes it if that fails. refused is the engine's
// error. It uses the container's ID: there may soon be another one of its name.
func (c *Client) awaitRemoval(ctx context.Context, container string, refused error) error {
	found, err := c.Inspect(ctx, container)
	if err != nil {
		return err
	}
	bound, cancel := context.WithTimeout(ctx, removalBound)
	defer cancel()
	again := time.NewTicker(removalPause)
	defer again.Stop()
	for isBeingRemoved(refused) {
		select {
		case <-bound.Done():
			return cmp.Or(context.Cause(ctx), refused)
		case <-again.C:
		}
		_, refused = c.output(ctx, "rm", "--force", "--volumes", found.ID)
	}
	return refused
}
