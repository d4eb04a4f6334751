package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// CreateVolume creates a volume with labels. Docker leaves an existing one of that name as it is.
func (c *Client) CreateVolume(ctx context.Context, name string, labels map[string]string) error {
	args := append([]string{"volume", "create"}, labelArgs(labels)...)
	if _, err := c.output(ctx, append(args, name)...); err != nil {
		return fmt.Errorf("create volume %s: %w", name, err)
	}
	return nil
}

// VolumeLabels returns the labels of a volume. The error is ErrNotFound if there is none.
func (c *Client) VolumeLabels(ctx context.Context, name string) (map[string]string, error) {
	out, err := c.output(ctx, "volume", "inspect", "--format", "{{json .Labels}}", name)
	if err != nil {
		return nil, fmt.Errorf("inspect volume %s: %w", name, err)
	}
	labels := map[string]string{}
	if err := json.Unmarshal([]byte(out), &labels); err != nil {
		return nil, fault.Wrap(fmt.Errorf("inspect volume %s: %w", name, err), fault.DockerFailed, "")
	}
	return labels, nil
}

// RemoveVolume removes a volume. A missing one is no error.
func (c *Client) RemoveVolume(ctx context.Context, name string) error {
	if _, err := c.output(ctx, "volume", "rm", name); err != nil && !isNotFound(err) {
		return fmt.Errorf("remove volume %s: %w", name, err)
	}
	return nil
}

func labelArgs(labels map[string]string) []string {
	var args []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		args = append(args, "--label", k+"="+labels[k])
	}
	return args
}
