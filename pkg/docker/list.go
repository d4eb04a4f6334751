package docker

import (
	"context"
	"fmt"
)

// Filter selects objects by docker's own filters; empty fields select all.
type Filter struct {
	Labels []string // "key" or "key=value"; all must match
	Name   string   // a part of the name, or a docker pattern (e.g. "^/kind$")
	// Network is the name or the ID of a network that containers are attached to, whether they run or not.
	Network string
}

func (f Filter) args() []string {
	var args []string
	for _, l := range f.Labels {
		args = append(args, "--filter", "label="+l)
	}
	if f.Name != "" {
		args = append(args, "--filter", "name="+f.Name)
	}
	if f.Network != "" {
		args = append(args, "--filter", "network="+f.Network)
	}
	return args
}

// Containers lists the names of containers, also of stopped ones.
func (c *Client) Containers(ctx context.Context, f Filter) ([]string, error) {
	return c.list(ctx, f, "container", "ls", "--all", "--format", "{{.Names}}")
}

// Volumes lists the names of volumes.
func (c *Client) Volumes(ctx context.Context, f Filter) ([]string, error) {
	return c.list(ctx, f, "volume", "ls", "--format", "{{.Name}}")
}

func (c *Client) list(ctx context.Context, f Filter, args ...string) ([]string, error) {
	if c.NotNeeded {
		return nil, nil
	}
	names, err := c.lines(ctx, append(args, f.args()...)...)
	if err != nil {
		return nil, fmt.Errorf("list %ss: %w", args[0], err)
	}
	return names, nil
}
