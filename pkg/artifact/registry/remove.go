package registry

import (
	"context"
	"errors"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
)

// Remove deletes the registry of an environment: container, image, volume, and the docker network when
// cluster-init made it and nothing is left in it. What does not exist is no error, what belongs to something else
// is refused as in EnsureRegistry.
func Remove(ctx context.Context, d *docker.Client, o EnsureOptions) error {
	if o.Network == "" {
		o.Network = DefaultNetwork
	}
	name := ContainerName(o.Cluster)
	if err := CheckOurs(ctx, d, o.Cluster); err != nil {
		return err
	}
	found, err := d.Inspect(ctx, name)
	switch {
	case errors.Is(err, docker.ErrNotFound):
	case err != nil:
		return err
	default:
		if err := d.Remove(ctx, name); err != nil {
			return err
		}
		if strings.HasPrefix(found.Image, imageRepository+":") {
			_ = d.RemoveImage(ctx, found.Image) // the engine refuses while another environment still runs it
		}
	}
	if err := d.RemoveVolume(ctx, name); err != nil {
		return err
	}
	return RemoveNetwork(ctx, d, o.Network)
}

// RemoveNetwork removes the docker network when it carries LabelCreated and no container is in it; otherwise it is
// left alone, because kind shares it among all its clusters.
func RemoveNetwork(ctx context.Context, d *docker.Client, network string) error {
	n, err := d.Network(ctx, network)
	if errors.Is(err, docker.ErrNotFound) {
		return nil
	}
	if err != nil || n.Labels[LabelCreated] != "true" || n.Containers > 0 {
		return err
	}
	return d.RemoveNetwork(ctx, network)
}
